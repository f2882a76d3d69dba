import CaromCore

/// Decodes the output of `RiceWriter`.
struct RiceReader: Sendable {
  private var bytes: [UInt8] = []
  /// The number of bytes read, including a byte whose bits have been read only in part.
  private var offset = 0
  private var bitReader = BitReader()
  private(set) var failed = false

  /// Starts decoding a copy of `source`, and skips the first bit, which is known to be 1.
  mutating func start(_ source: Span<UInt8>) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(copying: source)
    offset = 0
    bitReader = BitReader()
    failed = source.count > RiceWriter.byteLimit
    _ = read(1)
  }

  mutating func fail() { failed = true }

  private mutating func read(_ count: Int) -> UInt64 {
    guard !failed else { return 0 }
    let bytes = bytes
    var reader = PacketReader(bytes.span.extracting(offset..<bytes.count))
    do throws(DecodeError) {
      let value = try bitReader.read(count, &reader)
      offset += reader.offset
      return value
    } catch {
      failed = true
      return 0
    }
  }

  private mutating func readRice(order: Int) -> UInt64 {
    var quotient = 0
    while quotient < RiceWriter.escape, read(1) == 1 { quotient += 1 }
    guard quotient == RiceWriter.escape else {
      return UInt64(quotient) << UInt64(order) | read(order)
    }
    let width = Int(read(6)) + 1
    let value = read(width)
    // The escape is valid only for a value that has no shorter code, and only with the exact width
    // of the value.
    if value >> UInt64(width - 1) == 0 || value >> UInt64(order) < UInt64(RiceWriter.escape) {
      failed = true
    }
    return failed ? 0 : value
  }

  /// Whether only the zero padding of the last byte remains and no invalid symbol was read.
  var endsAsWritten: Bool { offset == bytes.count && bitReader.isPaddingZero && !failed }
}

extension RiceReader: DeltaCoder {
  mutating func flag(
    _ bit: Bool, _ model: Int, _ models: inout MutableSpan<RangeModel>
  ) -> Bool { read(1) == 1 }

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
