/// A set of byte positions in one message, stored as sorted ranges that neither overlap nor touch.
struct ByteRanges: Hashable, Sendable {
  /// The bytes from `start` up to but not including `end`.
  struct ByteRange: Hashable, Sendable, BitwiseCopyable {
    var start: UInt32
    var end: UInt32
  }

  private(set) var ranges: [ByteRange] = []

  var isEmpty: Bool { ranges.isEmpty }
  var first: ByteRange? { ranges.first }
  var count: Int { ranges.count }

  mutating func removeAll() { ranges.removeAll(keepingCapacity: true) }

  /// Returns the index of the first range that ends at `start` or later, or the number of ranges if
  /// there is none.
  private func firstIndex(endingFrom start: UInt32) -> Int {
    if let last = ranges.last, last.end < start { return ranges.count }
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].end < start { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Adds the bytes `start..<end` and returns how many of them the set did not contain before.
  @discardableResult
  mutating func insert(_ start: UInt32, _ end: UInt32) -> Int {
    guard start < end else { return 0 }
    let low = firstIndex(endingFrom: start)
    var high = low
    var known = 0
    var merged = ByteRange(start: start, end: end)
    while high < ranges.count, ranges[high].start <= end {
      let range = ranges[high]
      known += Int(min(range.end, end)) - Int(max(range.start, start))
      merged = ByteRange(start: min(merged.start, range.start), end: max(merged.end, range.end))
      high += 1
    }
    if high == low + 1 {
      ranges[low] = merged
    } else {
      ranges.replaceSubrange(low..<high, with: CollectionOfOne(merged))
    }
    return Int(end - start) - known
  }

  /// Removes the bytes `start..<end`.
  mutating func remove(_ start: UInt32, _ end: UInt32) {
    guard start < end else { return }
    var index = firstIndex(endingFrom: start)
    while index < ranges.count, ranges[index].start < end {
      let range = ranges[index]
      guard range.end > start else {
        index += 1
        continue
      }
      switch (range.start < start, range.end > end) {
      case (false, false): ranges.remove(at: index)
      case (false, true):
        ranges[index].start = end
        return
      case (true, false):
        ranges[index].end = start
        index += 1
      case (true, true):
        ranges[index].end = start
        ranges.insert(ByteRange(start: end, end: range.end), at: index + 1)
        return
      }
    }
  }
}
