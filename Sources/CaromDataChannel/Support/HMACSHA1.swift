import CaromCore

/// HMAC with the hash function SHA-1 (RFC 2104), the MESSAGE-INTEGRITY of STUN. It does not
/// allocate.
struct HMACSHA1: Sendable {
  private var inner = SHA1()
  private var outer = SHA1()

  /// Creates the state with a key of any length.
  init(key: Span<UInt8>) {
    var block = InlineArray<64, UInt8>(repeating: 0)
    if key.count > SHA1.blockLength {
      var hash = SHA1()
      hash.absorb(key)
      let short = hash.finish()
      for index in short.indices { block[index] = short[index] }
    } else {
      for index in key.indices { block[index] = key[index] }
    }
    for index in block.indices {
      inner.absorb(block[index] ^ 0x36)
      outer.absorb(block[index] ^ 0x5C)
    }
  }

  /// Adds `bytes` to the message.
  mutating func absorb(_ bytes: Span<UInt8>) { inner.absorb(bytes) }

  /// Adds one byte to the message.
  mutating func absorb(_ byte: UInt8) { inner.absorb(byte) }

  /// Returns the code of the message, 20 bytes.
  consuming func finish() -> SHA1.Hash {
    var outer = outer
    let hash = inner.finish()
    outer.absorb(hash.span)
    return outer.finish()
  }
}
