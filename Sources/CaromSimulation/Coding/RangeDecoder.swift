/// Decodes the output of `RangeEncoder`. After the last byte it reads zeros.
struct RangeDecoder: Sendable {
  private var bytes: [UInt8] = []
  private var position = 0
  /// The offset of the coded number from the low end of the interval.
  private var code: UInt64 = 0
  private var range: UInt64 = 1 << 63
  private(set) var failed = false

  /// Starts decoding a copy of `source`.
  mutating func start(_ source: Span<UInt8>) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(copying: source)
    position = 8
    range = 1 << 63
    code = window
    failed = source.isEmpty || code >= range
  }

  mutating func fail() { failed = true }

  /// The eight bytes before `position`, as a big-endian integer.
  private var window: UInt64 {
    (position - 8..<position).reduce(0) { $0 << 8 | UInt64(byte($1)) }
  }

  @inline(__always) private func byte(_ index: Int) -> UInt8 {
    index < bytes.count ? bytes[index] : 0
  }

  /// Decodes a bit with the model at `index`.
  @inline(__always) mutating func decode(
    _ index: Int, _ models: inout MutableSpan<RangeModel>
  ) -> Bool {
    let bound = (range >> 16) &* (65_536 &- models[index].probability)
    let bit = code >= bound
    models[index].update(bit)
    if bit {
      code &-= bound
      range &-= bound
    } else {
      range = bound
    }
    if range < 1 << 32 { shift() }
    return bit
  }

  /// Decodes a number of `count` bits, at most 16, without a model. A code that no encoder writes
  /// yields the largest number of that width.
  @inline(__always) mutating func decode(bits count: Int) -> UInt64 {
    range >>= UInt64(truncatingIfNeeded: count)
    let value = min(code / range, (1 << UInt64(truncatingIfNeeded: count)) &- 1)
    code &-= value &* range
    if range < 1 << 32 { shift() }
    return value
  }

  private mutating func shift() {
    range <<= 32
    for _ in 0..<4 {
      code = code << 8 | UInt64(byte(position))
      position += 1
    }
  }

  /// Whether the bytes are exactly the bytes that `RangeEncoder` writes for the decoded symbols.
  var endsAsWritten: Bool {
    guard let last = bytes.last, last != 0 || bytes.count == 1 else { return false }
    let (_, offset) = RangeFlush.shortest(low: window &- code, range: range)
    return code == offset && bytes.count <= position
  }
}
