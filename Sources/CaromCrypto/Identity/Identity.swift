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
  public init(of key: PublicKey) { self.init(Self.hash(of: key)) }

  /// The prefix that is hashed before the secret of a peer without a key.
  private static let secretDomain = Array("carom peer secret".utf8)

  /// Creates the id of a peer without a key that sends `secret`, 128 random bits, over links that
  /// are encrypted below the session. Nobody who sees the id can find the secret.
  package init(ofSecret secret: PeerID) {
    let bytes = [secret.high, secret.low].flatMap { half in
      (0..<8).reversed().map { UInt8(truncatingIfNeeded: half >> (8 * $0)) }
    }
    self.init(BLAKE2b.hash(Self.secretDomain + bytes))
  }

  /// Creates an id from the first 16 bytes of a hash.
  private init(_ hash: [UInt8]) {
    let halves = hash.prefix(16)
    self.init(
      high: halves.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
      low: halves.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Returns the 64 bytes of the hash from which the id and the fingerprint of a key are taken.
  static func hash(of key: PublicKey) -> [UInt8] { BLAKE2b.hash(domain + key.bytes) }
}
