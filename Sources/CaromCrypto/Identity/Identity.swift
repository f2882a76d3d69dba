import CaromCore

/// A peer's long-term key pair, by which other peers recognize it. Its secret half is never shown,
/// and is overwritten when the last copy of the identity is gone.
public struct Identity: Sendable {
  /// The static key pair of the handshake.
  package let keys: KeyPair
  /// The peer id that belongs to the public key.
  public let id: PeerID

  package init(_ keys: KeyPair) {
    self.keys = keys
    id = PeerID(of: keys.publicKey)
  }

  /// Creates a new identity. `generator` must be unpredictable, as the system's is.
  public init(using generator: inout some RandomNumberGenerator) {
    self.init(KeyPair(secret: SecretBytes(random: KeyPair.secretLength, using: &generator)))
  }

  /// The half of the key pair that anybody may know.
  public var publicKey: PublicKey { keys.publicKey }

  /// The public key in words, for people to compare.
  public var fingerprint: Fingerprint { Fingerprint(publicKey) }
}

extension Identity: Hashable {
  /// Returns whether both identities have the same key pair.
  public static func == (a: Identity, b: Identity) -> Bool { a.publicKey == b.publicKey }

  /// Hashes the public key.
  public func hash(into hasher: inout Hasher) { hasher.combine(publicKey) }
}

extension Identity: CustomStringConvertible, CustomReflectable {
  /// The fingerprint, without any part of the secret key.
  public var description: String { "identity \(fingerprint)" }
  /// A mirror that contains only the id, so that `dump` shows nothing else.
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

extension PeerID {
  /// The prefix that is hashed before the key, so that no other use of the hash function yields a
  /// peer id.
  private static let domain = Array("carom peer id".utf8)

  /// Creates the id that belongs to a public key: the first 16 bytes of a hash of it. Nobody can
  /// claim the id without the secret half of the key.
  public init(of key: PublicKey) {
    let halves = Self.hash(of: key).prefix(16)
    self.init(
      high: halves.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
      low: halves.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Returns the 64 bytes of the hash from which the id and the fingerprint of a key are taken.
  static func hash(of key: PublicKey) -> [UInt8] { BLAKE2b.hash(domain + key.bytes) }
}
