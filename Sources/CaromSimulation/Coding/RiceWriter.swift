/// Writes bits, most significant first, after a first bit of 1: differences by Golomb-Rice codes,
/// for packets too small for what the end of a range coder costs.
struct RiceWriter: Sendable {
  /// The most bytes that are written this way.
  static let byteLimit = 12
  /// That many ones in a row say that the number follows with its width.
  static let escape = 12

  /// What was written.
  private(set) var bytes: [UInt8] = []
  private var pending: UInt64 = 0
  private var pendingCount = 0
  /// Bits so far, those too that had no room.
  private(set) var bitCount = 0

  /// Begins anew.
  mutating func start() {
    bytes.removeAll(keepingCapacity: true)
    pending = 1
    pendingCount = 1
    bitCount = 1
  }

  /// Whether all that was written has room.
  var fits: Bool { bitCount <= 8 * Self.byteLimit }

  /// Appends up to 32 bits.
  @inline(__always) mutating func write(_ value: UInt64, _ count: Int) {
    bitCount += count
    guard fits else { return }
    pending = pending << UInt64(count) | value
    pendingCount += count
    while pendingCount >= 8 {
      pendingCount -= 8
      bytes.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount)))
    }
  }

  /// Appends a number: what lies above its low `order` bits in unary, then those.
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

  /// Fills the last byte up with zeros.
  mutating func finish() {
    if pendingCount > 0 { write(0, 8 - pendingCount) }
  }
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
