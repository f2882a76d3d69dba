/// A sequence of secrets, each of 32 bytes, that is derived from one random seed. Equal seeds give
/// equal secrets, so that a machine stays reproducible.
///
/// With every secret, the seed is replaced by a new one, from which the earlier secrets cannot be
/// computed.
package struct SecretSource: Sendable {
  /// The length of the seed in bytes, and that of each secret.
  package static let length = 32

  private var seed: SecretBytes

  /// Creates the sequence that begins with `seed`, which must have 32 random bytes.
  package init(seed: SecretBytes) {
    precondition(seed.count == Self.length, "a seed has 32 bytes")
    precondition(Sodium.isInitialized, "libsodium cannot be initialized")
    self.seed = seed
  }

  /// Returns the next secret.
  package mutating func next() -> SecretBytes {
    let outputs = BLAKE2b.deriveKeys(seed, SecretBytes(copying: [UInt8]().span), count: 2)
    seed = outputs[0].prefix(Self.length)
    return outputs[1].prefix(Self.length)
  }
}
