import CSodium

/// The cipher XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03): its nonce is long enough to be
/// chosen at random for each message.
enum XChaChaPoly {
  /// The length of a key in bytes.
  static let keyLength = 32
  /// The length of a nonce in bytes.
  static let nonceLength = 24
  /// The length in bytes of the tag at the end of each sealed message.
  static let tagLength = 16

  /// Encrypts `plain`, and returns the result followed by its tag. The tag also protects `head`,
  /// which is not encrypted. No two messages that are sealed with one key may have the same nonce.
  static func seal(
    _ plain: SecretBytes, head: [UInt8], nonce: [UInt8], key: SecretBytes
  ) -> [UInt8] {
    precondition(nonce.count == nonceLength, "a nonce has 24 bytes")
    precondition(key.count == keyLength, "a key has 32 bytes")
    return unsafe [UInt8](unsafeUninitializedCapacity: plain.count + tagLength) { output, count in
      unsafe plain.withUnsafeBytes { plainBytes in
        unsafe key.withUnsafeBytes { key in
          _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
            output.baseAddress!, nil, plainBytes, UInt64(plain.count), head, UInt64(head.count),
            nil, nonce, key)
        }
      }
      count = plain.count + tagLength
    }
  }

  /// Returns the bytes that were sealed. Returns nil if the message, its head or its nonce was
  /// changed, or if the message was sealed with a different key.
  static func open(
    _ sealed: Span<UInt8>, head: [UInt8], nonce: [UInt8], key: SecretBytes
  ) -> SecretBytes? {
    precondition(nonce.count == nonceLength, "a nonce has 24 bytes")
    precondition(key.count == keyLength, "a key has 32 bytes")
    guard sealed.count >= tagLength else { return nil }
    var isAuthentic = false
    let plain = unsafe SecretBytes(count: sealed.count - tagLength) { output in
      unsafe sealed.withUnsafeBufferPointer { sealed in
        unsafe key.withUnsafeBytes { key in
          let status = unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
            output, nil, nil, sealed.baseAddress!, UInt64(sealed.count), head, UInt64(head.count),
            nonce, key)
          isAuthentic = status == 0
        }
      }
    }
    return isAuthentic ? plain : nil
  }
}
