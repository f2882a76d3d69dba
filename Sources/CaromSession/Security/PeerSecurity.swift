import CaromCrypto

/// How the connection to a peer is encrypted, and to whom it leads.
public struct PeerSecurity: Hashable, Sendable {
  /// The public key of the peer, which has proven that it has the secret one.
  public let publicKey: PublicKey
  /// The cipher of the link that carries messages: `ChaChaPoly` or `AESGCM`.
  public let cipher: String
  /// The pattern of the handshake: `XX`, or `XXpsk3` with a code.
  public let pattern: String

  /// The public key in words, for people to compare.
  public var fingerprint: Fingerprint { Fingerprint(publicKey) }
}
