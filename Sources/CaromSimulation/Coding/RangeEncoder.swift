/// A binary range coder with a 64-bit range. It writes the shortest byte sequence that identifies a
/// number within the final interval.
///
/// The first bit of the output is always 0, because the range starts at 2^63. A clear bit takes the
/// lower part of the interval, so a sequence of mostly clear bits ends in zero bytes, which are
/// omitted.
struct RangeEncoder: Sendable {
  /// The bytes encoded so far.
  private(set) var bytes: [UInt8] = []
  private var low: UInt64 = 0
  private var range: UInt64 = 1 << 63

  /// Reserves space for one datagram.
  mutating func reserve() { bytes.reserveCapacity(1_500) }

  /// Resets the encoder to an empty output.
  mutating func start() {
    bytes.removeAll(keepingCapacity: true)
    low = 0
    range = 1 << 63
  }

  /// Encodes a bit with the model at `index`.
  @inline(__always) mutating func encode(
    _ bit: Bool, _ index: Int, _ models: inout MutableSpan<RangeModel>
  ) {
    let bound = (range >> 16) &* (65_536 &- models[index].probability)
    models[index].update(bit)
    if bit {
      add(bound)
      range &-= bound
    } else {
      range = bound
    }
    if range < 1 << 32 { shift() }
  }

  /// Encodes `value`, a number of `count` bits, without a model. `count` is at most 16.
  @inline(__always) mutating func encode(bits value: UInt64, count: Int) {
    range >>= UInt64(truncatingIfNeeded: count)
    add(range &* value)
    if range < 1 << 32 { shift() }
  }

  @inline(__always) private mutating func add(_ amount: UInt64) {
    let (sum, overflow) = low.addingReportingOverflow(amount)
    low = sum
    if overflow { carry() }
  }

  private mutating func carry() {
    var index = bytes.count - 1
    while bytes[index] == 0xFF {
      bytes[index] = 0
      index -= 1
    }
    bytes[index] += 1
  }

  private mutating func shift() {
    append(4)
    low <<= 32
    range <<= 32
  }

  private mutating func append(_ count: Int) {
    for index in 0..<count {
      bytes.append(UInt8(truncatingIfNeeded: low >> UInt64(56 - 8 * index)))
    }
  }

  /// Ends the output with the fewest bytes possible. The last byte is not 0 unless it is the only
  /// one.
  mutating func finish() {
    let (count, offset) = RangeFlush.shortest(low: low, range: range)
    add(offset)
    append(count)
    while bytes.count > 1, bytes[bytes.count - 1] == 0 { bytes.removeLast() }
    if bytes.isEmpty { bytes.append(0) }
  }
}

/// Computes the shortest ending of a range coder's output.
enum RangeFlush {
  /// Returns the smallest number of bytes that, followed by zeros, denote a number within the
  /// interval, and the offset of that number from `low`.
  static func shortest(low: UInt64, range: UInt64) -> (count: Int, offset: UInt64) {
    for count in 0..<8 {
      let mask = UInt64.max >> UInt64(8 * count)
      let offset = (0 &- low) & mask
      if offset < range { return (count, offset) }
    }
    return (8, 0)
  }
}

extension Array {
  /// Replaces the elements with those of another array, but keeps the allocated memory.
  @inline(__always) mutating func replace(with other: [Element]) {
    removeAll(keepingCapacity: true)
    append(contentsOf: other)
  }
}
