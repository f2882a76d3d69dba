import CaromCrypto
import CaromProtocol
import CaromTransport

/// How a session protects its connections from eavesdroppers and impostors.
///
/// Both sides of a connection must protect it, and either both or neither must use a code. If the
/// two sides differ, the connection ends with `DisconnectReason.securityMismatch`; neither side
/// falls back to less protection.
public struct SessionSecurity: Hashable, Sendable {
  /// What a session requires of its connections, without the secrets that belong to it.
  public enum Policy: String, CaseIterable, Hashable, Sendable {
    /// Nothing: connections are in plaintext.
    case none
    /// Encryption. Any peer is accepted.
    case anyone
    /// Encryption, and a peer whose public key is known.
    case known
    /// Encryption, and a code that both sides know.
    case code
  }

  /// The identity that the session proves to its peers; nil if its connections are in plaintext.
  public let identity: Identity?
  private let access: LinkAccess

  private init(_ identity: Identity?, _ access: LinkAccess = .anyone) {
    self.identity = identity
    self.access = access
  }

  /// No protection. Anyone on the network path can read and change everything, and anyone can
  /// pretend to be any peer.
  public static let none = SessionSecurity(nil)

  /// Encrypted connections to anybody. Every peer proves that its id is its own, but not who it is.
  /// Each access to this property makes a new identity, and thus a new id for the session.
  public static var anyone: SessionSecurity { .anyone(as: .random()) }

  /// Encrypted connections to anybody, like `anyone`, except that the session has the id of
  /// `identity`.
  public static func anyone(as identity: Identity) -> SessionSecurity {
    SessionSecurity(identity)
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
    SessionSecurity(identity ?? .random(), .code(code, isForOneUse: isForOneUse))
  }

  /// What the session requires of its connections.
  public var policy: Policy {
    guard identity != nil else { return .none }
    return switch access {
    case .anyone: .anyone
    case .known: .known
    case .code: .code
    }
  }

  /// Returns the security settings of one machine on `loop`, or nil if connections are in
  /// plaintext. Each call draws a new seed.
  func makeLinkSecurity(on loop: NetworkLoop) -> LinkSecurity? {
    guard let identity else { return nil }
    var generator = LoopGenerator(of: loop)
    return LinkSecurity(
      identity, access: access,
      seed: SecretBytes(random: SecretSource.length, using: &generator))
  }
}

extension SessionSecurity: CustomStringConvertible, CustomReflectable {
  /// The name of the policy. It does not contain the code.
  public var description: String { policy.rawValue }
  /// The policy alone, so that `dump` does not show more.
  public var customMirror: Mirror { Mirror(self, children: ["policy": policy]) }
}
