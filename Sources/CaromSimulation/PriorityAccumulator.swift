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
    var gap = 1
    while gap < count { gap = gap * 9 / 4 + 1 }
    repeat {
      gap = Swift.max(gap * 4 / 9, 1)
      for start in Swift.min(gap, count)..<count { sift(start, by: gap) }
    } while gap > 1
  }

  private mutating func sift(_ start: Int, by gap: Int) {
    let value = self[start]
    var place = start
    while place >= gap, self[place - gap] > value {
      self[place] = self[place - gap]
      place -= gap
    }
    self[place] = value
  }
}
