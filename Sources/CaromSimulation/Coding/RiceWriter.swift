import CaromCore

/// Writes a snapshot's symbols as bits, most significant first, after a leading 1 bit. Numbers use
/// Golomb-Rice codes. In the smallest packets, this form is shorter than a range coder's output.
struct RiceWriter: Sendable {
  /// The maximum length of a snapshot in this form, in bytes.
  static let byteLimit = 12
  /// The number of consecutive 1 bits that announce a number with an explicit width.
  static let escape = 12

  private var packet = PacketWriter(capacity: 0)
  private var bitWriter = BitWriter()
  /// The number of bits written so far, including those that did not fit.
  private(set) var bitCount = 0

  /// The bytes that are complete; after `finish`, the whole output.
  var bytes: [UInt8] { packet.bytes }

  /// Resets the writer: the output then consists of only the leading 1 bit.
  mutating func start() {
    packet.removeAll()
    bitWriter = BitWriter()
    bitCount = 0
    write(1, 1)
  }

  /// Whether everything written so far fits into `byteLimit`.
  var fits: Bool { bitCount <= 8 * Self.byteLimit }

  /// Appends the low `count` bits of `value`. `count` is at most 32.
  @inline(__always) mutating func write(_ value: UInt64, _ count: Int) {
    bitCount += count
    guard fits else { return }
    bitWriter.write(value, count, to: &packet)
  }

  /// Appends a number as a Golomb-Rice code: the part above its low `order` bits in unary, then
  /// those bits.
  @inline(__always) mutating func writeRice(_ value: UInt64, order: Int) {
    let quotient = value >> UInt64(order)
    guard quotient < UInt64(Self.escape) else {
      write(1 << UInt64(Self.escape) - 1, Self.escape)
      let width = 64 - value.leadingZeroBitCount
      write(UInt64(width - 1), 6)
      if width > 32 { write(value >> 32, width - 32) }
      write(value & 0xFFFF_FFFF, min(width, 32))
      return
    }
    write(1 << (quotient + 1) - 2, Int(quotient) + 1)
    if order > 0 { write(value & (1 << UInt64(order) - 1), order) }
  }

  /// Ends the output by padding the last byte with zero bits.
  mutating func finish() { bitWriter.finish(&packet) }
}

extension RiceWriter: DeltaCoder {
  var failed: Bool { false }

  mutating func fail() {}

  mutating func flag(
    _ bit: Bool, _ model: Int, _ models: inout MutableSpan<RangeModel>
  ) -> Bool {
    write(bit ? 1 : 0, 1)
    return bit
  }

  mutating func bits(_ value: UInt64, _ count: Int) -> UInt64 {
    if count > 32 { write(value >> 32, count - 32) }
    write(value & 0xFFFF_FFFF, min(count, 32))
    return value
  }

  mutating func number(
    _ value: UInt64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> UInt64 {
    writeRice(value, order: order)
    return value
  }

  mutating func residual(
    _ value: Int64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> Int64 {
    writeRice(UInt64(bitPattern: value << 1 ^ value >> 63), order: order)
    return value
  }
}
