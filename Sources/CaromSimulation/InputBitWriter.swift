import CaromCore

/// Appends bits to a packet, most significant first within each byte.
struct InputBitWriter {
  private var pending: UInt64 = 0
  private var pendingCount = 0

  /// Appends the `count` low bits of `value`, 0 to 35.
  mutating func write(_ value: UInt64, _ count: Int, to writer: inout PacketWriter) {
    pending = pending << UInt64(count) | (value & ((1 << UInt64(count)) - 1))
    pendingCount += count
    while pendingCount >= 8 {
      pendingCount -= 8
      writer.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount)))
    }
  }

  /// Appends a residual by Golomb-Rice: the quotient by 2^k in ones and a zero, then k bits. From
  /// `InputRice.escape` ones on, the whole value follows instead.
  mutating func writeRice(_ value: UInt64, _ k: Int, to writer: inout PacketWriter) {
    let quotient = value >> UInt64(k)
    guard quotient < UInt64(InputRice.escape) else {
      write((1 << UInt64(InputRice.escape)) - 1, InputRice.escape, to: &writer)
      write(value, InputRice.rawBits, to: &writer)
      return
    }
    write((1 << (quotient + 1)) - 2, Int(quotient) + 1, to: &writer)
    write(value, k, to: &writer)
  }

  /// Fills the last byte up with zeros.
  mutating func finish(_ writer: inout PacketWriter) {
    if pendingCount > 0 { write(0, 8 - pendingCount, to: &writer) }
  }
}
