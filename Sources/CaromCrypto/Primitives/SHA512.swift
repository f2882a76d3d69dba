import CSodium

/// The hash function SHA-512 (FIPS 180-4).
enum SHA512 {
  /// The length in bytes of the blocks that the function processes.
  static let blockLength = 128

  /// Returns the 64-byte hash of `bytes`. The hash is secret, because `bytes` contain a secret.
  static func hash(_ bytes: SecretBytes) -> SecretBytes {
    unsafe SecretBytes(count: 64) { output in
      unsafe bytes.withUnsafeBytes { input in
        _ = unsafe crypto_hash_sha512(output, input, UInt64(bytes.count))
      }
    }
  }
}
