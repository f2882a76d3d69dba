import CSodium

/// A public key of X25519 (RFC 7748 §5): a point on Curve25519, which anybody may know.
public struct PublicKey: Hashable, Sendable {
  /// The length of a key in bytes.
  public static let length = 32
  /// The 32 bytes of the key.
  public let bytes: [UInt8]

  /// Creates the key with these bytes. Returns nil unless there are exactly 32.
  public init?(_ bytes: Span<UInt8>) {
    guard bytes.count == Self.length else { return nil }
    self.bytes = bytes.indices.map { bytes[$0] }
  }

  fileprivate init(unchecked bytes: [UInt8]) { self.bytes = bytes }
}

/// A key pair of X25519: a secret scalar, and the public key that belongs to it.
package struct KeyPair: Sendable {
  /// The length of a secret key in bytes.
  package static let secretLength = 32
  /// The public half, which peers learn.
  package let publicKey: PublicKey
  package let secret: SecretBytes

  /// Creates the key pair whose secret key is `secret`, which must be 32 random bytes.
  package init(secret: SecretBytes) {
    precondition(secret.count == Self.secretLength, "a secret key has 32 bytes")
    precondition(Sodium.isInitialized, "libsodium cannot be initialized")
    self.secret = secret
    publicKey = PublicKey(
      unchecked: unsafe [UInt8](unsafeUninitializedCapacity: PublicKey.length) { output, count in
        unsafe secret.withUnsafeBytes { scalar in
          _ = unsafe crypto_scalarmult_curve25519_base(output.baseAddress!, scalar)
        }
        count = PublicKey.length
      })
  }

  /// Returns the secret that only the owners of the two key pairs can compute. Returns nil if
  /// `other` is one of the few keys for which the result does not depend on this key pair (RFC 7748
  /// §6.1).
  func sharedSecret(with other: PublicKey) -> SecretBytes? {
    var isValid = false
    let shared = unsafe SecretBytes(count: 32) { output in
      unsafe secret.withUnsafeBytes { scalar in
        unsafe other.bytes.withUnsafeBufferPointer { point in
          isValid = unsafe crypto_scalarmult_curve25519(output, scalar, point.baseAddress!) == 0
        }
      }
    }
    return isValid ? shared : nil
  }
}
