import CSodium

/// Computes the BLAKE2b hash of content that comes in parts (RFC 7693), with 32 bytes of output.
@safe package final class ContentHasher {
  /// The length of a hash, in bytes.
  package static let length = 32

  private let memory: UnsafeMutableRawPointer
  /// Swift does not import the type of the state, whose alignment it does not support.
  private var state: OpaquePointer { unsafe OpaquePointer(memory) }

  package init() {
    unsafe memory = .allocate(
      byteCount: crypto_generichash_blake2b_statebytes(), alignment: 64)
    let status = unsafe crypto_generichash_blake2b_init(state, nil, 0, Self.length)
    precondition(status == 0, "BLAKE2b accepts a length of 32 bytes")
  }

  deinit { unsafe memory.deallocate() }

  /// Adds the next part of the content.
  package func update(_ bytes: [UInt8]) {
    let status = unsafe bytes.withUnsafeBufferPointer { part in
      unsafe crypto_generichash_blake2b_update(state, part.baseAddress, UInt64(part.count))
    }
    precondition(status == 0, "BLAKE2b accepts parts of any length")
  }

  /// Returns the hash of all parts. Must be called once, and nothing can be added afterwards.
  package func finish() -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Self.length) { output, count in
      let status = unsafe crypto_generichash_blake2b_final(
        state, output.baseAddress!, Self.length)
      precondition(status == 0, "a hash is finished once")
      count = Self.length
    }
  }
}
