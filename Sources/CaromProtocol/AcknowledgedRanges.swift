/// Packet numbers that came, as ranges, the newest first. Its owner keeps it, so that its storage
/// is used again.
package struct AcknowledgedRanges: Hashable, Sendable {
  /// The most ranges that one acknowledgement names and a receiver remembers.
  package static let maximumCount = 64
  /// How many packets a short acknowledgement speaks of: this many up to the largest all came.
  package static let shortSpan: UInt64 = 64

  /// The ranges, newest first, with at least one missing number between two of them.
  package private(set) var ranges: [ClosedRange<UInt64>] = []

  package init() {}

  package var isEmpty: Bool { ranges.isEmpty }
  package var count: Int { ranges.count }
  /// The largest number; there has to be a range.
  package var largest: UInt64 { ranges[0].upperBound }

  package subscript(index: Int) -> ClosedRange<UInt64> { ranges[index] }

  package func contains(_ number: UInt64) -> Bool {
    for range in ranges where number >= range.lowerBound { return number <= range.upperBound }
    return false
  }

  /// Forgets the ranges and keeps their storage.
  package mutating func removeAll() { ranges.removeAll(keepingCapacity: true) }

  /// What a short acknowledgement says: the packets up to `largest`, 64 of them or back to 0.
  package mutating func setShort(largest: UInt64) {
    removeAll()
    ranges.append(largest - min(largest, Self.shortSpan - 1)...largest)
  }

  /// Appends a range that is older than all others and does not touch them.
  package mutating func append(_ older: ClosedRange<UInt64>) {
    precondition(
      ranges.count < Self.maximumCount
        && (ranges.last.map { older.upperBound + 1 < $0.lowerBound } ?? true),
      "a range has to be older than the others, and there are 64 at most")
    ranges.append(older)
  }

  /// Adds a number and says whether it is new. What no longer finds room comes out in `forgotten`:
  /// the oldest range, or the number itself if it is older.
  mutating func insert(_ number: UInt64, forgotten: inout ClosedRange<UInt64>?) -> Bool {
    guard let newest = ranges.first else {
      ranges.append(number...number)
      return true
    }
    if number == newest.upperBound &+ 1 {
      ranges[0] = newest.lowerBound...number
      return true
    }
    var index = 0
    while index < ranges.count, ranges[index].lowerBound > number { index += 1 }
    if index < ranges.count, ranges[index].upperBound >= number { return false }
    place(number, before: index, forgotten: &forgotten)
    return true
  }

  /// Puts a number that is not there between the ranges `index - 1` and `index`.
  private mutating func place(
    _ number: UInt64, before index: Int, forgotten: inout ClosedRange<UInt64>?
  ) {
    let touchesNewer = index > 0 && ranges[index - 1].lowerBound == number + 1
    let touchesOlder = index < ranges.count && ranges[index].upperBound + 1 == number
    switch (touchesNewer, touchesOlder) {
    case (true, true):
      ranges[index - 1] = ranges[index].lowerBound...ranges[index - 1].upperBound
      ranges.remove(at: index)
    case (true, false): ranges[index - 1] = number...ranges[index - 1].upperBound
    case (false, true): ranges[index] = ranges[index].lowerBound...number
    case (false, false):
      if ranges.count == Self.maximumCount {
        guard index < ranges.count else {
          forgotten = number...number
          return
        }
        forgotten = ranges.removeLast()
      }
      ranges.insert(number...number, at: index)
    }
  }
}
