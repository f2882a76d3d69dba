/// Chooses what goes out first where not everything can: what waits gains each tick, so that nobody
/// waits for ever.
struct PriorityAccumulator: Sendable {
  /// Who waits: what it gained, complemented, above its place.
  private var waiting: [UInt64] = []

  mutating func removeAll() { waiting.removeAll(keepingCapacity: true) }

  /// Somebody who wants to go.
  mutating func append(_ place: Int, gained: Int) {
    waiting.append(UInt64(~UInt32(clamping: gained)) << 32 | UInt64(UInt32(place)))
  }

  /// Brings them into the order in which they go: who gained most, and of those the lowest place.
  mutating func sort() { waiting.sortInPlace() }

  /// The place of the one that goes after `index` others.
  subscript(index: Int) -> Int { Int(waiting[index] & 0xFFFF_FFFF) }
}

extension [UInt64] {
  /// Sorts without memory beside its own (Shell 1959, gaps by Tokuda 1992).
  mutating func sortInPlace() {
    var span = mutableSpan
    var gap = 1
    while gap < span.count { gap = gap * 9 / 4 + 1 }
    repeat {
      gap = Swift.max(gap * 4 / 9, 1)
      for start in Swift.min(gap, span.count)..<span.count { Self.sift(&span, start, by: gap) }
    } while gap > 1
  }

  @inline(__always) private static func sift(
    _ span: inout MutableSpan<UInt64>, _ start: Int, by gap: Int
  ) {
    let value = span[start]
    var place = start
    while place >= gap, span[place - gap] > value {
      span[place] = span[place - gap]
      place -= gap
    }
    span[place] = value
  }
}
