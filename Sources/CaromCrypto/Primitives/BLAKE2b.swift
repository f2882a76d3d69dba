import CSodium

/// The hash function BLAKE2b with 64 bytes of output (RFC 7693), and the functions that Noise
/// derives from it.
enum BLAKE2b {
  /// The length of a hash in bytes.
  static let length = 64
  /// The length in bytes of the blocks that the function processes, which is also that of HMAC's
  /// padded key.
  static let blockLength = 128

  /// Returns the hash of `bytes`.
  static func hash(_ bytes: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: length) { output, count in
      unsafe bytes.withUnsafeBufferPointer { input in
        unsafe hash(input.baseAddress, input.count, into: output.baseAddress!)
      }
      count = length
    }
  }

  /// Returns HMAC-BLAKE2b (RFC 2104) over `message`. `key` may have at most 128 bytes.
  static func hmac(key: SecretBytes, _ message: SecretBytes) -> SecretBytes {
    precondition(key.count <= blockLength, "an HMAC key must have at most 128 bytes")
    let inner = hash(SecretBytes(padded(key, 0x36), message))
    return hash(SecretBytes(padded(key, 0x5C), inner))
  }

  /// Returns `count` outputs, 1 to 3, of the key derivation of Noise (revision 34, section 4.3):
  /// HKDF (RFC 5869) with `chainingKey` as salt, `inputKey` as input key material, and no info.
  static func deriveKeys(
    _ chainingKey: SecretBytes, _ inputKey: SecretBytes, count: Int
  ) -> [SecretBytes] {
    precondition((1...3).contains(count), "Noise derives one to three keys at a time")
    let extracted = hmac(key: chainingKey, inputKey)
    var keys: [SecretBytes] = []
    for number in 1...UInt8(count) {
      let counter = unsafe SecretBytes(count: 1) { unsafe $0[0] = number }
      keys.append(hmac(key: extracted, keys.last.map { SecretBytes($0, counter) } ?? counter))
    }
    return keys
  }

  /// Returns the key, padded with zeros to the length of a block, with every byte of the block
  /// XORed with `pad`.
  private static func padded(_ key: SecretBytes, _ pad: UInt8) -> SecretBytes {
    unsafe SecretBytes(count: blockLength) { block in
      unsafe key.withUnsafeBytes { unsafe block.update(from: $0, count: key.count) }
      for index in 0..<blockLength { unsafe block[index] ^= pad }
    }
  }

  private static func hash(_ secret: SecretBytes) -> SecretBytes {
    unsafe SecretBytes(count: length) { output in
      unsafe secret.withUnsafeBytes { unsafe hash($0, secret.count, into: output) }
    }
  }

  private static func hash(
    _ input: UnsafePointer<UInt8>?, _ count: Int, into output: UnsafeMutablePointer<UInt8>
  ) {
    let status = unsafe crypto_generichash_blake2b(output, length, input, UInt64(count), nil, 0)
    precondition(status == 0, "BLAKE2b does not accept a length")
  }
}
