/// Why a connection ended, as its own side sees it. Each connection ends once, with one reason.
public enum DisconnectReason: Hashable, Sendable {
  /// This side closed it.
  case closedLocally
  /// The peer said goodbye: its player left.
  case left
  /// The peer said goodbye: the session that both agreed on is over.
  case finished
  /// The host gave this seat to somebody else.
  case replaced
  /// Every seat is taken.
  case full
  /// The peer cannot answer now (it is joining a table itself); ask again later.
  case busy
  /// The host declined, and says why.
  case declined(String)
  /// The peer speaks another version of the session protocol or of the game.
  case versionMismatch(theirs: UInt16)
  /// The peer plays another game, or is this peer itself.
  case wrongApplication
  /// The peer does not speak the session protocol, or broke it.
  case protocolViolation
  /// The other end answered the transport but never asked for a seat, or never answered.
  case handshakeTimeout
  /// Nothing was heard from the peer for `SessionTiming.silenceLimit`: cable, sleep or crash.
  case timedOut
  /// The host made this side leave, and says why.
  case kicked(String)
  /// The link was reset: the peer's process ended, or something on the way cut it.
  case connectionReset
  /// The link ended without a goodbye.
  case connectionLost
}

extension DisconnectReason: CustomStringConvertible {
  /// The word that summaries and logs use.
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
    case .connectionReset: "connectionReset"
    case .connectionLost: "connectionLost"
    }
  }
}
