import CaromCore

/// Appends bits to a packet, most significant first within each byte.
struct BitWriter: Sendable {
  /// The bits that do not fill a byte yet, in the low `pendingCount` bits of this word.
  private var pending: UInt64 = 0
  private var pendingCount = 0

  /// Appends the low `count` bits of `value`. `count` is from 0 to 56.
  @inline(__always)
  mutating func write(_ value: UInt64, _ count: Int, to writer: inout PacketWriter) {
    pending = pending << UInt64(count) | (value & ((1 << UInt64(count)) - 1))
    pendingCount += count
    while pendingCount >= 8 {
      pendingCount -= 8
      writer.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount)))
    }
  }

  /// Appends `value` as an exponential Golomb code of order k: with m = (value >> k) + 1 of n bits,
  /// the code is n - 1 zeros, m in n bits, and the k low bits of the value.
  mutating func writeGolomb(_ value: UInt64, _ k: Int, to writer: inout PacketWriter) {
    let high = (value >> UInt64(k)) + 1
    let length = 64 - high.leadingZeroBitCount
    write(0, length - 1, to: &writer)
    write(high, length, to: &writer)
    write(value, k, to: &writer)
  }

  /// Ends the output by padding the last byte with zero bits.
  mutating func finish(_ writer: inout PacketWriter) {
    if pendingCount > 0 { write(0, 8 - pendingCount, to: &writer) }
  }
}
