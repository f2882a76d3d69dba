/// A reflected cyclic redundancy check of 32 bits, eight bytes at a step (Kounavis and Berry 2005).
struct CRC32: Sendable {
  /// The check of Ethernet (ISO 3309), which the FINGERPRINT of STUN has (RFC 8489 §14.7).
  static let ethernet = CRC32(polynomial: 0xEDB8_8320)
  /// The check of Castagnoli, CRC32c, which SCTP has (RFC 9260 appendix A).
  static let castagnoli = CRC32(polynomial: 0x82F6_3B78)

  /// The state before the first byte.
  static let start: UInt32 = 0xFFFF_FFFF

  /// Eight tables of 256: the entry `256 * n + byte` is the state that `byte` leaves after it and
  /// `n` zero bytes.
  private let tables: [UInt32]

  /// Creates the check with a polynomial whose bits are reflected.
  private init(polynomial: UInt32) {
    var tables: [UInt32] = []
    for byte in 0..<UInt32(256) {
      tables.append((0..<8).reduce(byte) { state, _ in Self.shift(state, polynomial) })
    }
    for index in 256..<8 * 256 {
      let previous = tables[index - 256]
      tables.append(previous >> 8 ^ tables[Int(previous & 0xFF)])
    }
    self.tables = tables
  }

  private static func shift(_ state: UInt32, _ polynomial: UInt32) -> UInt32 {
    state >> 1 ^ (state & 1 == 1 ? polynomial : 0)
  }

  /// Returns the check of all bytes that led to `state`.
  static func finish(_ state: UInt32) -> UInt32 { ~state }

  /// Returns the check of `bytes`.
  func checksum(of bytes: Span<UInt8>) -> UInt32 { Self.finish(update(Self.start, with: bytes)) }

  /// Returns the state after `bytes`.
  func update(_ state: UInt32, with bytes: Span<UInt8>) -> UInt32 {
    let tables = tables.span
    var state = state
    var index = 0
    while bytes.count - index >= 8 {
      let low =
        state
        ^ (UInt32(bytes[index]) | UInt32(bytes[index &+ 1]) << 8 | UInt32(bytes[index &+ 2]) << 16
          | UInt32(bytes[index &+ 3]) << 24)
      let first =
        tables[1792 + Int(low & 0xFF)] ^ tables[1536 + Int(low >> 8 & 0xFF)]
        ^ tables[1280 + Int(low >> 16 & 0xFF)] ^ tables[1024 + Int(low >> 24)]
      let second =
        tables[768 + Int(bytes[index &+ 4])] ^ tables[512 + Int(bytes[index &+ 5])]
        ^ tables[256 + Int(bytes[index &+ 6])] ^ tables[Int(bytes[index &+ 7])]
      state = first ^ second
      index &+= 8
    }
    while index < bytes.count {
      state = state >> 8 ^ tables[Int((state ^ UInt32(bytes[index])) & 0xFF)]
      index &+= 1
    }
    return state
  }
}
