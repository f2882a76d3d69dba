import CaromCore
import CaromCrypto
import CaromProtocol
import CaromTransport

/// How a session protects its connections from eavesdroppers and impostors.
///
/// Both sides of a connection must protect it, and either both or neither must use a code, and the
/// same holds for connect tokens. If the two sides differ, the connection ends with
/// `DisconnectReason.securityMismatch`; neither side falls back to less protection.
public struct SessionSecurity: Hashable, Sendable {
  /// What a session requires of its connections, without the secrets that belong to it.
  public typealias Policy = SecurityPolicy

  /// The identity that the session proves to its peers. If it is nil, the session makes a new one
  /// when it begins, unless its connections are in plaintext, or it is a client with a connect
  /// token, whose id is that in its `PeerInfo`. A host that accepts connect tokens has the id of
  /// its identity, which the key of the backend proves.
  public let identity: Identity?
  /// The peers whose connections are accepted; nil if connections are in plaintext.
  private let access: LinkAccess?
  /// Whether all links must be streams that are encrypted below the session.
  let requiresSealedStreams: Bool

  private init(
    _ identity: Identity?, _ access: LinkAccess?, requiresSealedStreams: Bool = false
  ) {
    self.identity = identity
    self.access = access
    self.requiresSealedStreams = requiresSealedStreams
  }

  /// No protection. Anyone on the network path can read and change everything, and anyone can
  /// pretend to be any peer.
  public static let none = SessionSecurity(nil, nil)

  /// Links that are encrypted below the session, for example by TLS. The session itself encrypts
  /// nothing and proves nothing about its peers.
  ///
  /// Only a layer above the session can use it, because the streams must come from there: pass them
  /// to `SessionNode.accept(_:isSealed:)` or `SessionNode.connect(over:)`. There are no datagrams,
  /// and streams that the session itself accepts or opens are refused.
  package static let encryptedBelow = SessionSecurity(nil, nil, requiresSealedStreams: true)

  /// Encrypted connections to anybody, the default. Every peer proves that its id is its own, but
  /// not who it is. Each session makes a new identity, and thus has a new id.
  public static let anyone = SessionSecurity(nil, .anyone)

  /// Encrypted connections to anybody, like `anyone`, except that the session has the id of
  /// `identity`.
  public static func anyone(as identity: Identity) -> SessionSecurity {
    SessionSecurity(identity, .anyone)
  }

  /// Encrypted connections to the peers in a list. Others are refused with
  /// `DisconnectReason.untrusted`.
  ///
  /// - Parameters:
  ///   - peers: The known peers; see `KnownPeersFile`.
  ///   - name: The name of the only peer in the list that may be at the other end, for example for
  ///     a client that knows whom it wants to join; nil for any of them.
  ///   - identity: The identity of this session, which the other side may also have to know.
  public static func known(
    _ peers: KnownPeers, named name: String? = nil, as identity: Identity
  ) -> SessionSecurity {
    SessionSecurity(identity, .known(peers, name: name))
  }

  /// Encrypted connections between peers that know a code. A host reports wrong attempts with
  /// `PeerEvent.wrongCode`. After the third wrong attempt in a row, the host refuses all attempts
  /// for 30 s, and after each further wrong attempt for twice as long, up to 10 minutes.
  ///
  /// - Parameters:
  ///   - code: The code that both sides know.
  ///   - isForOneUse: Whether only one peer may use the code. Only a host has to set it.
  ///   - identity: The identity of this session; nil for a new one.
  public static func code(
    _ code: JoinCode, isForOneUse: Bool = false, as identity: Identity? = nil
  ) -> SessionSecurity {
    SessionSecurity(identity, .code(code, isForOneUse: isForOneUse))
  }

  /// Encrypted connections to the hosts that a connect token names. Only a client can have a token.
  ///
  /// The client's `PeerInfo` must have the id that the backend has put into the token; otherwise
  /// the host refuses it with `DisconnectReason.identityMismatch`. If the host does not accept the
  /// token, the connection ends with `DisconnectReason.tokenRefused`. A token lets a client join
  /// each of its hosts once. The connection does not need the token to move or to be resumed.
  ///
  /// - Parameter token: The token that the backend has given to this client over a secure channel.
  public static func token(_ token: ConnectToken) -> SessionSecurity {
    SessionSecurity(nil, .token(token))
  }

  /// Encrypted connections to clients with a connect token of a backend. Only a host can accept
  /// tokens.
  ///
  /// The host accepts each token once. A client has the id that the backend has put into its token,
  /// and the backend's data for the host is in `PeerInfo.backendData`, in time for the decision
  /// whether to admit the client. The host refuses tokens that were made before it started, because
  /// it does not know whether they were used.
  ///
  /// - Parameters:
  ///   - keys: The keys that the backend shares with its hosts, 1 to 4. Each is tried in turn, so
  ///     that a backend can change its key.
  ///   - hosts: The endpoints at which clients reach this host, as tokens name them; nil if the
  ///     host does not know them, for example because it is behind a proxy. It then accepts tokens
  ///     for any host.
  ///   - identity: The identity whose id the host has; nil for a new one.
  public static func token(
    keys: [BackendKey], hosts: Set<Endpoint>? = nil, as identity: Identity? = nil
  ) -> SessionSecurity {
    token(keys: keys, hosts: hosts, as: identity, start: nil)
  }

  /// As `token(keys:hosts:as:)`, for a host that refuses the tokens that were made before `start`,
  /// or, if `start` is nil, before the host itself is created.
  package static func token(
    keys: [BackendKey], hosts: Set<Endpoint>? = nil, as identity: Identity? = nil, start: UnixTime?
  ) -> SessionSecurity {
    let reader = TicketReader(keys: keys, start: start ?? notStarted, endpoints: hosts)
    return SessionSecurity(identity, .tickets(reader))
  }

  /// The start of a host that has not been created yet: no token is made later than that.
  private static let notStarted = UnixTime(milliseconds: .max)

  /// What the session requires of its connections.
  public var policy: Policy {
    switch access {
    case nil: .none
    case .anyone: .anyone
    case .known: .known
    case .code: .code
    case .token, .tickets: .token
    }
  }

  /// Returns the same settings with an identity: a new one, made from the random numbers of `loop`,
  /// if the session needs an identity and has none.
  func withIdentity(on loop: NetworkLoop) -> SessionSecurity {
    switch access {
    case .anyone, .known, .code, .tickets:
      var generator = LoopGenerator(of: loop)
      return SessionSecurity(identity ?? Identity(using: &generator), access)
    case .token, nil: return self
    }
  }

  /// The routing of the connect token with which the session joins; none if there is no token.
  var tokenRouting: SessionRouting {
    guard case .token(let token)? = access, let routing = token.routing else {
      return SessionRouting()
    }
    return .bothWays(routing)
  }

  /// Whether the session accepts connect tokens, so that it needs to know the time of day.
  var acceptsTickets: Bool { if case .tickets = access { true } else { false } }

  /// Returns the security settings of one machine on `loop`, or nil if connections are in
  /// plaintext. Each call draws a new seed.
  func makeLinkSecurity(on loop: NetworkLoop) -> LinkSecurity? {
    guard var access else { return nil }
    if case .tickets(var reader) = access, reader.start == Self.notStarted {
      reader.start = .now
      access = .tickets(reader)
    }
    var generator = LoopGenerator(of: loop)
    return LinkSecurity(
      withIdentity(on: loop).identity, access: access,
      seed: SecretBytes(random: SecretSource.length, using: &generator))
  }
}

extension SessionSecurity: CustomStringConvertible, CustomReflectable {
  /// The name of the policy, or "encrypted below". It does not contain the code.
  public var description: String {
    requiresSealedStreams ? LinkProtection.below.description : policy.rawValue
  }
  /// The policy alone, so that `dump` does not show more.
  public var customMirror: Mirror { Mirror(self, children: ["policy": policy]) }
}
