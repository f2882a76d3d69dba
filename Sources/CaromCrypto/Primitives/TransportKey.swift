import CSodium

/// The ciphers for messages. Both encrypt a message and protect it, together with its associated
/// data, with a tag of 16 bytes (AEAD, RFC 5116).
package enum Cipher: Hashable, Sendable, CaseIterable {
  /// ChaCha20-Poly1305 (RFC 8439), which is fast on every processor.
  case chaChaPoly
  /// AES-256-GCM (NIST SP 800-38D), for processors with instructions for it.
  case aesGCM

  /// The length in bytes of the tag that follows each encrypted message.
  package static let tagLength = 16
  /// The length of a key in bytes.
  static let keyLength = 32

  /// The name of the cipher in the names of Noise protocols.
  package var name: String { self == .chaChaPoly ? "ChaChaPoly" : "AESGCM" }

  /// Whether this processor can use the cipher.
  package var isAvailable: Bool {
    guard Sodium.isInitialized else { return false }
    return self == .chaChaPoly || crypto_aead_aes256gcm_is_available() != 0
  }
}

/// A key that encrypts and decrypts messages, each under its own number.
///
/// The sender must never use a number twice: that would reveal both messages, and let others forge
/// more. Copies share the key's memory, which is overwritten with zeros before it is freed.
// Unchecked, because the compiler cannot see that nothing writes to the memory after `init`.
@safe package struct TransportKey: @unchecked Sendable {
  /// The key's memory: one object, so that each packet finds the key behind a single reference.
  package let memory: Memory

  package var cipher: Cipher { memory.header == .chaChaPoly ? .chaChaPoly : .aesGCM }

  /// Creates a key of 32 bytes. `cipher` must be available.
  package init(_ key: SecretBytes, _ cipher: Cipher) {
    precondition(key.count == Cipher.keyLength, "a transport key has 32 bytes")
    precondition(cipher.isAvailable, "this processor has no instructions for the cipher")
    memory = unsafe key.withUnsafeBytes { key in
      unsafe Memory.make(key, cipher == .chaChaPoly ? .chaChaPoly : .aesGCM)
    }
  }

  private init(memory: Memory) { self.memory = memory }

  /// The form in which the memory holds a key.
  package enum Form: Hashable, Sendable {
    /// The 32 bytes of a key for ChaCha20-Poly1305.
    case chaChaPoly
    /// The 32 bytes of a key for AES, which is expanded again for each message.
    case aesGCM
    /// An expanded key for AES, which takes 512 bytes.
    case expandedAESGCM

    /// The number of blocks of 16 bytes that a key takes.
    fileprivate var blocks: Int {
      self == .expandedAESGCM
        ? (MemoryLayout<crypto_aead_aes256gcm_state>.size + 15) / 16 : Cipher.keyLength / 16
    }
  }

  /// The bytes of a key. The elements follow the header in the same object, and are aligned to 16
  /// bytes, as an expanded AES key requires.
  @safe package final class Memory: ManagedBuffer<Form, SIMD16<UInt8>> {
    /// Returns the memory of a key whose 32 bytes are at `key`.
    fileprivate static func make(_ key: UnsafePointer<UInt8>, _ form: Form) -> Memory {
      let memory = unsafe unsafeDowncast(
        Memory.create(minimumCapacity: form.blocks) { _ in form }, to: Memory.self)
      unsafe memory.withUnsafeMutablePointerToElements { elements in
        unsafe elements.initialize(repeating: SIMD16(), count: form.blocks)
        let schedule = UnsafeMutableRawPointer(elements)
        switch form {
        case .chaChaPoly, .aesGCM:
          unsafe schedule.copyMemory(from: key, byteCount: Cipher.keyLength)
        case .expandedAESGCM:
          _ = unsafe crypto_aead_aes256gcm_beforenm(
            schedule.assumingMemoryBound(to: crypto_aead_aes256gcm_state.self), key)
        }
      }
      return memory
    }

    deinit {
      unsafe withUnsafeMutablePointers { form, elements in
        unsafe sodium_memzero(elements, 16 * form.pointee.blocks)
      }
    }

    /// Calls `body` with the address of the key. The address must not be used after `body` returns.
    @unsafe fileprivate func withUnsafeBytes<Result>(
      _ body: (UnsafePointer<UInt8>) -> Result
    ) -> Result {
      unsafe withUnsafeMutablePointerToElements { elements in
        unsafe body(UnsafeRawPointer(elements).assumingMemoryBound(to: UInt8.self))
      }
    }
  }

  /// Returns the same key in the form that takes the least time for each message. A key that is
  /// used rarely is better kept as it is: an expanded key for AES takes 16 times as much memory.
  package func expanded() -> TransportKey {
    guard memory.header == .aesGCM else { return self }
    return TransportKey(
      memory: unsafe memory.withUnsafeBytes { unsafe Memory.make($0, .expandedAESGCM) })
  }

  /// Returns the key that replaces this one (Noise, revision 34, section 4.2, REKEY). This key
  /// cannot be computed from it.
  package func makeNext() -> TransportKey {
    var bytes = [UInt8](repeating: 0, count: Cipher.keyLength)
    seal(&bytes, head: 0, number: .max)
    let next = SecretBytes(copying: bytes.span.extracting(..<Cipher.keyLength))
    _ = SecretBytes(moving: &bytes)
    return TransportKey(next, cipher)
  }

  /// Encrypts, in place, the bytes of `message` from `head` on, and appends their tag. The first
  /// `head` bytes stay readable, but the tag protects them too: they are the associated data.
  package func seal(_ message: inout [UInt8], head: Int, number: UInt64) {
    message.append(contentsOf: repeatElement(0, count: Cipher.tagLength))
    var span = message.mutableSpan
    seal(&span, from: 0, head: head, number: number)
  }

  /// Encrypts a message in place. The message is the bytes of `buffer` from `offset` on. The first
  /// `head` bytes of the message stay readable, as associated data, its last 16 bytes receive the
  /// tag, and the bytes between them are encrypted.
  package func seal(
    _ buffer: inout MutableSpan<UInt8>, from offset: Int, head: Int, number: UInt64
  ) {
    let length = buffer.count - offset - head - Cipher.tagLength
    precondition(offset >= 0 && head >= 0 && length >= 0, "the head is longer than the message")
    unsafe buffer.withUnsafeMutableBufferPointer { buffer in
      let start = unsafe buffer.baseAddress! + offset
      let body = unsafe start + head
      unsafe withNonce(number) { nonce in
        unsafe memory.withUnsafeBytes { key in
          switch memory.header {
          case .chaChaPoly:
            _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt_detached(
              body, body + length, nil, body, UInt64(length), start, UInt64(head), nil, nonce,
              key)
          case .aesGCM:
            _ = unsafe crypto_aead_aes256gcm_encrypt_detached(
              body, body + length, nil, body, UInt64(length), start, UInt64(head), nil, nonce,
              key)
          case .expandedAESGCM:
            _ = unsafe crypto_aead_aes256gcm_encrypt_detached_afternm(
              body, body + length, nil, body, UInt64(length), start, UInt64(head), nil, nonce,
              expanded(key))
          }
        }
      }
    }
  }

  /// Appends the decrypted bytes of `message` from `head` on to `output`, without their tag.
  /// Returns false, and appends nothing, if the tag does not match: somebody without the key made
  /// or changed the message, or it was sealed with a different number or head.
  package func open(
    _ message: Span<UInt8>, head: Int, number: UInt64, into output: inout [UInt8]
  ) -> Bool {
    precondition((0...message.count).contains(head), "the head is longer than the message")
    let length = message.count - head - Cipher.tagLength
    guard length >= 0 else { return false }
    var matches = false
    output.append(addingCapacity: length) { added in
      unsafe added.withUnsafeMutableBufferPointer { plain, count in
        matches = unsafe open(message, head: head, number: number, into: plain.baseAddress)
        count = matches ? length : 0
      }
    }
    return matches
  }

  /// Writes the plaintext of the bytes of `message` after `head` to `plain`, which has room for it.
  private func open(
    _ message: Span<UInt8>, head: Int, number: UInt64, into plain: UnsafeMutablePointer<UInt8>?
  ) -> Bool {
    let length = UInt64(message.count - head - Cipher.tagLength)
    return unsafe message.withUnsafeBufferPointer { buffer in
      let start = buffer.baseAddress!
      let body = unsafe start + head
      let tag = unsafe body + Int(length)
      return unsafe withNonce(number) { nonce in
        unsafe memory.withUnsafeBytes { key in
          switch memory.header {
          case .chaChaPoly:
            unsafe crypto_aead_chacha20poly1305_ietf_decrypt_detached(
              plain, nil, body, length, tag, start, UInt64(head), nonce, key) == 0
          case .aesGCM:
            unsafe crypto_aead_aes256gcm_decrypt_detached(
              plain, nil, body, length, tag, start, UInt64(head), nonce, key) == 0
          case .expandedAESGCM:
            unsafe crypto_aead_aes256gcm_decrypt_detached_afternm(
              plain, nil, body, length, tag, start, UInt64(head), nonce, expanded(key)) == 0
          }
        }
      }
    }
  }

  /// Returns the address of AES's expanded key.
  private func expanded(_ key: UnsafePointer<UInt8>) -> UnsafePointer<crypto_aead_aes256gcm_state> {
    unsafe UnsafeRawPointer(key).assumingMemoryBound(to: crypto_aead_aes256gcm_state.self)
  }

  /// Calls `body` with the 12-byte nonce that Noise derives from a message's number (revision 34,
  /// sections 12.3 and 12.4): four zero bytes, then the number in the byte order that the cipher
  /// uses.
  private func withNonce<Result>(
    _ number: UInt64, _ body: (UnsafePointer<UInt8>) -> Result
  ) -> Result {
    let number = cipher == .chaChaPoly ? number.littleEndian : number.bigEndian
    return unsafe withUnsafeTemporaryAllocation(byteCount: 12, alignment: 8) { nonce in
      unsafe nonce.storeBytes(of: 0, as: UInt32.self)
      unsafe nonce.storeBytes(of: number, toByteOffset: 4, as: UInt64.self)
      return unsafe body(nonce.bindMemory(to: UInt8.self).baseAddress!)
    }
  }
}
