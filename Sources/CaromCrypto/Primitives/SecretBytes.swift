import CSodium

/// Secret bytes, such as a key. They never change, so copies of a state machine can share them, and
/// they are overwritten with zeros before their memory is freed. Their `description` does not show
/// them.
// Unchecked, because the compiler cannot see that nothing writes to the memory after `init`.
@safe package final class SecretBytes: @unchecked Sendable {
  /// The number of bytes.
  package let count: Int
  /// The address of the bytes, which is aligned to 16 bytes, as an expanded AES key requires.
  private let memory: UnsafeMutablePointer<UInt8>

  /// Creates `count` bytes, which are zeros until `initialize` writes them.
  @unsafe init(count: Int, initializingWith initialize: (UnsafeMutablePointer<UInt8>) -> Void) {
    self.count = count
    let raw = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 16)
    unsafe memory = raw.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    unsafe initialize(memory)
  }

  /// Creates a copy of `bytes`.
  package convenience init(copying bytes: Span<UInt8>) {
    unsafe self.init(count: bytes.count) { memory in
      for index in bytes.indices { unsafe memory[index] = bytes[index] }
    }
  }

  /// Creates a copy of `bytes`, and overwrites them with zeros.
  package convenience init(moving bytes: inout [UInt8]) {
    self.init(copying: bytes.span)
    unsafe bytes.withUnsafeMutableBytes { unsafe sodium_memzero($0.baseAddress!, $0.count) }
  }

  /// Creates `count` random bytes, at least one. `generator` must be unpredictable.
  package convenience init(random count: Int, using generator: inout some RandomNumberGenerator) {
    var bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    self.init(moving: &bytes)
  }

  /// Creates the concatenation of `first` and `second`.
  package convenience init(_ first: SecretBytes, _ second: SecretBytes) {
    unsafe self.init(count: first.count + second.count) { memory in
      unsafe memory.update(from: first.memory, count: first.count)
      unsafe (memory + first.count).update(from: second.memory, count: second.count)
    }
  }

  deinit {
    unsafe sodium_memzero(memory, count)
    unsafe memory.deallocate()
  }

  /// Calls `body` with the address of the bytes. The address must not be used after `body` returns.
  @unsafe func withUnsafeBytes<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    unsafe body(UnsafePointer(memory))
  }

  /// Returns the first `length` bytes.
  package func prefix(_ length: Int) -> SecretBytes {
    precondition(length <= count, "a prefix of \(count) bytes cannot have \(length)")
    return unsafe SecretBytes(count: length) { unsafe $0.update(from: memory, count: length) }
  }

  /// Returns a copy of the bytes from `offset` on. The caller must keep the copy secret.
  package func reveal(from offset: Int = 0) -> [UInt8] {
    precondition((0...count).contains(offset), "the offset is beyond the \(count) bytes")
    return unsafe Array(UnsafeBufferPointer(start: memory + offset, count: count - offset))
  }
}

extension SecretBytes {
  /// Returns the first `length` bytes of the HMAC-BLAKE2b of `message`. The key is these bytes, at
  /// most 128. Nobody without the key can compute the result.
  package func authenticate(_ message: [UInt8], length: Int) -> SecretBytes {
    BLAKE2b.hmac(key: self, SecretBytes(copying: message.span)).prefix(length)
  }
}

extension SecretBytes: Equatable {
  /// Returns whether two secrets are equal, in a time that does not depend on where they differ.
  package static func == (a: SecretBytes, b: SecretBytes) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe sodium_memcmp(a.memory, b.memory, a.count) == 0
  }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
  package var description: String { "\(count) secret bytes" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
