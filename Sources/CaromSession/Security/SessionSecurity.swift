import CaromCrypto
import CaromProtocol
import CaromTransport

/// How a session protects its connections from listeners and impostors.
///
/// Both sides of a connection must protect it. If one side does and the other does not, the
/// connection ends with `DisconnectReason.securityMismatch`; neither side falls back to plaintext.
public struct SessionSecurity: Sendable {
  /// The identity that the session proves to its peers; nil if its connections are in plaintext.
  public let identity: Identity?

  /// No protection. Everybody on the way can read and change everything, and pretend to be anybody.
  public static let none = SessionSecurity(identity: nil)

  /// Encrypted connections to anybody. Every peer proves that its id is its own, but not who it is.
  /// The session has a new identity, and thus a new id, each time.
  public static var anyone: SessionSecurity {
    var generator = SystemRandomNumberGenerator()
    return .anyone(as: Identity(using: &generator))
  }

  /// Encrypted connections to anybody, as `anyone`. The session has the id of `identity`.
  public static func anyone(as identity: Identity) -> SessionSecurity {
    SessionSecurity(identity: identity)
  }

  /// The settings of one machine on `loop`. Each call draws another seed.
  func makeLinkSecurity(on loop: NetworkLoop) -> LinkSecurity? {
    guard let identity else { return nil }
    var generator = LoopGenerator(of: loop)
    return LinkSecurity(
      identity, seed: SecretBytes(random: SecretSource.length, using: &generator))
  }
}
