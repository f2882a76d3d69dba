/// Chooses which entities to send first when not all fit. Priorities grow while an entity waits, so
/// every entity is eventually sent.
struct PriorityAccumulator: Sendable {
  /// The queued entries. Each has the complement of its priority in the high 32 bits and the index
  /// of its entity in the low 32 bits.
  private var waiting: [UInt64] = []

  mutating func removeAll() { waiting.removeAll(keepingCapacity: true) }

  /// Adds the entity at index `place`, which has accumulated the priority `gained`.
  mutating func append(_ place: Int, gained: Int) {
    waiting.append(UInt64(~UInt32(clamping: gained)) << 32 | UInt64(UInt32(place)))
  }

  /// Sorts the entries by descending priority, and by ascending index among equals.
  mutating func sort() { waiting.sortInPlace() }

  /// Accesses the index of the entity at a position of the sorted queue.
  subscript(index: Int) -> Int { Int(waiting[index] & 0xFFFF_FFFF) }
}

extension [UInt64] {
  /// Sorts the array in place without allocating (Shell 1959, gaps by Tokuda 1992).
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
