import CaromCrypto
import CaromProtocol

/// How the connection to a peer is encrypted, and which key the peer has proven to have.
public struct PeerSecurity: Hashable, Sendable {
  /// The peer's public key. The peer has proven that it has the corresponding secret key. It is nil
  /// with a connect token, which proves a peer instead.
  public let publicKey: PublicKey?
  /// At a host, what it has read in the peer's connect token; nil without a token, and at a client.
  public let token: AcceptedTicket?
  /// How the newest link to the peer is encrypted: the policy, the handshake and the cipher.
  public let protection: LinkProtection

  /// The public key in words, for people to compare.
  public var fingerprint: Fingerprint? { publicKey.map { Fingerprint($0) } }
}

extension PeerSecurity: CustomStringConvertible {
  /// The policy, the pattern of the handshake, the cipher, and the words of the peer's key, if it
  /// has proven one.
  public var description: String {
    fingerprint.map { "\(protection), \($0)" } ?? "\(protection)"
  }
}
