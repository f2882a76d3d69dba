/// Decodes the output of `RiceWriter`.
struct RiceReader: Sendable {
  private var bytes: [UInt8] = []
  private var position = 0
  private(set) var failed = false

  /// Starts decoding a copy of the bytes. The first bit is known to be 1 and is skipped.
  mutating func start(_ source: Span<UInt8>) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(copying: source)
    position = 1
    failed = source.count > RiceWriter.byteLimit
  }

  mutating func fail() { failed = true }

  private mutating func bit() -> UInt64 {
    guard position < 8 * bytes.count, !failed else {
      failed = true
      return 0
    }
    defer { position += 1 }
    return UInt64(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
  }

  private mutating func read(_ count: Int) -> UInt64 {
    var value: UInt64 = 0
    for _ in 0..<count { value = value << 1 | bit() }
    return value
  }

  private mutating func readRice(order: Int) -> UInt64 {
    var quotient = 0
    while quotient < RiceWriter.escape, bit() == 1 { quotient += 1 }
    guard quotient == RiceWriter.escape else {
      return UInt64(quotient) << UInt64(order) | read(order)
    }
    let width = Int(read(6)) + 1
    let value = read(width)
    // The escape is valid only for values without a shorter code, in their exact width.
    if value >> UInt64(width - 1) == 0 || value >> UInt64(order) < UInt64(RiceWriter.escape) {
      failed = true
    }
    return failed ? 0 : value
  }

  /// Whether only the padding of the last byte remains, and it is 0.
  var endsAsWritten: Bool {
    let rest = 8 * bytes.count - position
    guard rest < 8, !failed else { return false }
    return rest == 0 || bytes[bytes.count - 1] & (1 << UInt8(rest) - 1) == 0
  }
}

extension RiceReader: DeltaCoder {
  mutating func flag(
    _ bit: Bool, _ model: Int, _ models: inout MutableSpan<RangeModel>
  ) -> Bool { self.bit() == 1 }

  mutating func bits(_ value: UInt64, _ count: Int) -> UInt64 { read(count) }

  mutating func number(
    _ value: UInt64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> UInt64 {
    readRice(order: order)
  }

  mutating func residual(
    _ value: Int64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> Int64 {
    let folded = readRice(order: order)
    return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
  }
}
