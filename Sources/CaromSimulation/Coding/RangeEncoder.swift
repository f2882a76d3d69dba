/// A binary range coder with 64 bits of range: writes the shortest bytes that name a number within
/// the interval that the bits so far leave.
///
/// The first bit of its output is 0, since the range begins at 2^63; and a clear bit has the lower
/// part of the interval, so that what is mostly clear ends in zeros, which are not written.
struct RangeEncoder: Sendable {
  /// What was written.
  private(set) var bytes: [UInt8] = []
  private var low: UInt64 = 0
  private var range: UInt64 = 1 << 63

  /// Makes room for a datagram.
  mutating func reserve() { bytes.reserveCapacity(1_500) }

  /// Begins anew.
  mutating func start() {
    bytes.removeAll(keepingCapacity: true)
    low = 0
    range = 1 << 63
  }

  /// Writes a bit by the model of that number.
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

  /// Writes up to 16 bits as they are.
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

  /// Ends with the fewest bytes, of which the last is not 0 unless it is the only one.
  mutating func finish() {
    let (count, offset) = RangeFlush.shortest(low: low, range: range)
    add(offset)
    append(count)
    while bytes.count > 1, bytes[bytes.count - 1] == 0 { bytes.removeLast() }
    if bytes.isEmpty { bytes.append(0) }
  }
}

/// How a range coder ends.
enum RangeFlush {
  /// The fewest bytes of which some number in the interval consists, the rest being zeros; and how
  /// far that number lies above `low`.
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
  /// Takes over the elements of another array, in the memory that it has.
  @inline(__always) mutating func replace(with other: [Element]) {
    removeAll(keepingCapacity: true)
    append(contentsOf: other)
  }
}
