/// A set of TSNs that grows upwards: all up to `cumulative`, and any of the `size` that follow.
struct TSNWindow: Sendable {
  /// The number of TSNs behind `cumulative` that can be in the set one by one. At 1,148 bytes a
  /// packet it takes 1.1 MB in flight to fill the window.
  static let size = 1_024

  enum Insertion { case new, duplicate, outside }

  /// The TSN up to which all are in the set.
  private(set) var cumulative: TSN
  /// The latest TSN in the set.
  private(set) var highest: TSN
  /// A bit for each TSN of the window, at the TSN's value modulo `size`. The bits of TSNs that are
  /// not in the window are 0.
  private var words = InlineArray<16, UInt64>(repeating: 0)

  /// Creates the set of all TSNs before `first`.
  init(first: TSN) {
    cumulative = first.advanced(by: -1)
    highest = cumulative
  }

  /// Whether TSNs are missing before the latest one.
  var hasGaps: Bool { highest != cumulative }

  func contains(_ tsn: TSN) -> Bool {
    let distance = tsn.distance(from: cumulative)
    return distance <= 0 || distance <= Self.size && isMarked(tsn)
  }

  mutating func insert(_ tsn: TSN) -> Insertion {
    let distance = tsn.distance(from: cumulative)
    guard distance > 0 else { return .duplicate }
    guard distance <= Self.size else { return .outside }
    if distance == 1, !hasGaps {
      cumulative = tsn
      highest = tsn
      return .new
    }
    guard !isMarked(tsn) else { return .duplicate }
    mark(tsn)
    if highest.precedes(tsn) { highest = tsn }
    absorbContiguous()
    return .new
  }

  /// Adds all TSNs up to `tsn`, which may lie beyond the window.
  mutating func advance(to tsn: TSN) {
    let distance = tsn.distance(from: cumulative)
    guard distance > 0 else { return }
    // The usual case does without a new window.
    guard hasGaps else {
      (cumulative, highest) = (tsn, tsn)
      return
    }
    guard tsn.precedes(highest) else {
      self = TSNWindow(first: tsn.advanced(by: 1))
      return
    }
    for step in 1...distance { clear(cumulative.advanced(by: step)) }
    cumulative = tsn
    absorbContiguous()
  }

  /// Appends the gap blocks of a SACK (RFC 9260 §3.3.4), at most `limit`, and returns their number.
  func appendGaps(to bytes: inout [UInt8], limit: Int) -> Int {
    let end = highest.distance(from: cumulative)
    var count = 0
    var offset = 1
    while offset <= end, count < limit {
      guard isMarked(cumulative.advanced(by: offset)) else {
        offset += 1
        continue
      }
      bytes.appendBigEndian(UInt16(offset))
      while offset < end, isMarked(cumulative.advanced(by: offset + 1)) { offset += 1 }
      bytes.appendBigEndian(UInt16(offset))
      count += 1
      offset += 1
    }
    return count
  }

  private mutating func absorbContiguous() {
    while hasGaps, isMarked(cumulative.advanced(by: 1)) {
      cumulative = cumulative.advanced(by: 1)
      clear(cumulative)
    }
  }

  @inline(__always)
  private func isMarked(_ tsn: TSN) -> Bool {
    words[Int(tsn.value >> 6 & 15)] >> UInt64(tsn.value & 63) & 1 == 1
  }

  @inline(__always)
  private mutating func mark(_ tsn: TSN) {
    words[Int(tsn.value >> 6 & 15)] |= 1 << UInt64(tsn.value & 63)
  }

  @inline(__always)
  private mutating func clear(_ tsn: TSN) {
    words[Int(tsn.value >> 6 & 15)] &= ~(1 << UInt64(tsn.value & 63))
  }
}
