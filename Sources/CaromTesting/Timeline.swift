import CaromCore

/// What is going to happen, earliest first; at one instant in the order of scheduling.
struct Timeline<Element: Sendable>: Sendable {
  private struct Entry: Sendable {
    let time: Instant
    let number: UInt64
    let element: Element

    func isBefore(_ other: Entry) -> Bool {
      (time, number) < (other.time, other.number)
    }
  }

  /// A binary heap: each entry comes before its children at 2n+1 and 2n+2.
  private var entries: [Entry] = []
  private var scheduled: UInt64 = 0

  /// When the first is due.
  var firstTime: Instant? { entries.first?.time }

  /// How many are waiting.
  var count: Int { entries.count }

  mutating func schedule(_ element: Element, at time: Instant) {
    entries.append(Entry(time: time, number: scheduled, element: element))
    scheduled += 1
    var index = entries.count - 1
    while index > 0, entries[index].isBefore(entries[(index - 1) / 2]) {
      entries.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// Takes out the first if it is due by then.
  mutating func next(notAfter limit: Instant) -> (time: Instant, element: Element)? {
    guard let first = entries.first, first.time <= limit else { return nil }
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    sink(from: 0)
    return (first.time, first.element)
  }

  private mutating func sink(from start: Int) {
    var index = start
    while true {
      var best = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < entries.count && entries[child].isBefore(entries[best]) { best = child }
      if best == index { return }
      entries.swapAt(index, best)
      index = best
    }
  }
}
