/// The reason why a connection ended, as this side sees it. Each connection ends once, with one
/// reason.
public enum DisconnectReason: Hashable, Sendable {
  /// This side closed the connection.
  case closedLocally
  /// The peer said goodbye: its player left.
  case left
  /// The peer said goodbye: the session ended as both had agreed.
  case finished
  /// The host gave this seat to another player.
  case replaced
  /// All seats are taken.
  case full
  /// The peer cannot answer now because it is joining a match itself. Try again later.
  case busy
  /// The host declined, with a human-readable explanation.
  case declined(String)
  /// The peer uses another version of the session protocol or of the game: the version `theirs`, or
  /// an unknown one if `theirs` is 0.
  case versionMismatch(theirs: UInt16)
  /// The peer plays another game, or the connection leads back to this peer.
  case wrongApplication
  /// The peer does not speak the session protocol or violated it.
  case protocolViolation
  /// The peer did not complete the handshake in time: it neither requested a seat nor answered this
  /// side's request.
  case handshakeTimeout
  /// No link to the peer works, and none has worked again within `SessionTiming.resumeLimit`: the
  /// peer crashed, went to sleep, or lost its network.
  case timedOut
  /// The host removed this side, with a human-readable explanation.
  case kicked(String)
  /// One side read none of its messages for `SessionTiming.fullQueueLimit` while the other side's
  /// send queue was full. Both sides report this reason.
  case tooSlow
  /// One side encrypts its connections or requires a code, and the other does not. Neither falls
  /// back: both must use the same `SessionSecurity`.
  case securityMismatch
  /// One side described itself with an id that does not belong to the key that it has proven.
  case identityMismatch
  /// One side accepts only known peers and does not know the other side's key. On the side that
  /// does not know the key, the string explains why; on the other side, it is empty.
  case untrusted(String)
  /// The two sides have different codes, or another peer has used up the host's code: ask the host
  /// for the code.
  case wrongCode
  /// Too many attempts to join the host were made with a wrong code: try again later.
  case tooManyAttempts
  /// The host does not accept the connect token, for this reason.
  case tokenRefused(TokenRefusal)
  /// The match goes on at another host, to which the peer sends this side. Join it with the same
  /// id: the connect token is for this side alone.
  case moved(to: NextHost)
  /// The transport connection was reset: the peer's process ended or a device on the path cut the
  /// connection.
  case connectionReset
  /// The transport connection ended without a goodbye.
  case connectionLost
}

/// The reasons why a host does not accept a connect token.
public enum TokenRefusal: Hashable, Sendable {
  /// The token has been used: ask the backend for another one.
  case used
  /// The token is no longer valid: ask the backend for another one.
  case expired
  /// The token is for other hosts: connect to one that it names.
  case otherHost
  /// The token was made before the host started, so nobody knows whether it was used: ask the
  /// backend for another one.
  case madeBeforeStart
  /// By the host's clock, the token was made in the future: try again in a moment, and check the
  /// clocks of the backend and of the host.
  case notYetValid
  /// The token was not made with a key of the host, or was changed: ask the backend for another
  /// one, and check that the backend and the host have the same key.
  case notAuthentic
}

extension DisconnectReason {
  /// Whether the reason comes from the peer, either because the peer gave it or because this side
  /// found it in what the peer sent. False for a reason that this side chose, or that it found in
  /// the peer's silence or in the end of a link.
  package var isSaidByPeer: Bool {
    switch self {
    case .closedLocally, .handshakeTimeout, .timedOut, .connectionReset, .connectionLost: false
    case .left, .finished, .replaced, .full, .busy, .declined, .versionMismatch,
      .wrongApplication, .protocolViolation, .kicked, .tooSlow, .securityMismatch,
      .identityMismatch, .untrusted, .wrongCode, .tooManyAttempts, .tokenRefused, .moved:
      true
    }
  }
}

extension DisconnectReason: CustomStringConvertible {
  /// The reason as summaries and logs print it.
  public var description: String {
    switch self {
    case .closedLocally: "closed"
    case .left: "left"
    case .finished: "finished"
    case .replaced: "replaced"
    case .full: "full"
    case .busy: "busy"
    case .declined(let why): why.isEmpty ? "declined" : "declined: \(why)"
    case .versionMismatch(let theirs): "versionMismatch(theirs: \(theirs))"
    case .wrongApplication: "wrongApplication"
    case .protocolViolation: "protocolViolation"
    case .handshakeTimeout: "handshakeTimeout"
    case .timedOut: "timedOut"
    case .kicked(let why): why.isEmpty ? "kicked" : "kicked: \(why)"
    case .tooSlow: "tooSlow"
    case .securityMismatch: "securityMismatch"
    case .identityMismatch: "identityMismatch"
    case .untrusted(let why): why.isEmpty ? "untrusted" : "untrusted: \(why)"
    case .wrongCode: "wrongCode"
    case .tooManyAttempts: "tooManyAttempts"
    case .tokenRefused(let why): "tokenRefused(\(why))"
    case .moved(let host): "moved to \(host)"
    case .connectionReset: "connectionReset"
    case .connectionLost: "connectionLost"
    }
  }
}
