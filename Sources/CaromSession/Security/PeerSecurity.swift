import CaromCrypto

/// How the connection to a peer is encrypted, and which key the peer has proven to have.
public struct PeerSecurity: Hashable, Sendable {
  /// The peer's public key. The peer has proven that it has the corresponding secret key.
  public let publicKey: PublicKey
  /// The cipher of the link that carries messages: `ChaChaPoly` or `AESGCM`.
  public let cipher: String
  /// The pattern of the handshake: `XX`, or `XXpsk3` with a code.
  public let pattern: String

  /// The public key in words, for people to compare.
  public var fingerprint: Fingerprint { Fingerprint(publicKey) }
}
