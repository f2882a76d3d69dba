import CaromCore

/// What is going to happen, earliest first; at one instant in the order of scheduling.
///
/// The heap moves small keys; the elements stay where they are until they leave.
struct Timeline<Element: Sendable>: Sendable {
  private struct Key: Sendable {
    let time: Instant
    let number: UInt64
    let slot: Int

    func isBefore(_ other: Key) -> Bool {
      time == other.time ? number < other.number : time < other.time
    }
  }

  /// A binary heap: each key comes before its children at 2n+1 and 2n+2.
  private var keys: [Key] = []
  private var elements: [Element?] = []
  private var freeSlots: [Int] = []
  private var scheduled: UInt64 = 0

  /// When the first is due.
  var firstTime: Instant? { keys.first?.time }

  /// How many are waiting.
  var count: Int { keys.count }

  mutating func schedule(_ element: Element, at time: Instant) {
    let key = Key(time: time, number: scheduled, slot: store(element))
    scheduled += 1
    keys.append(key)
    var index = keys.count - 1
    while index > 0, key.isBefore(keys[(index - 1) / 2]) {
      keys[index] = keys[(index - 1) / 2]
      index = (index - 1) / 2
    }
    keys[index] = key
  }

  /// Takes out the first if it is due by then.
  mutating func next(notAfter limit: Instant) -> (time: Instant, element: Element)? {
    guard let first = keys.first, first.time <= limit, let last = keys.popLast() else {
      return nil
    }
    if !keys.isEmpty { sink(last) }
    guard let element = elements[first.slot] else { return nil }
    elements[first.slot] = nil
    freeSlots.append(first.slot)
    return (first.time, element)
  }

  private mutating func store(_ element: Element) -> Int {
    guard let slot = freeSlots.popLast() else {
      elements.append(element)
      return elements.count - 1
    }
    elements[slot] = element
    return slot
  }

  /// Finds a key its place from the top down.
  private mutating func sink(_ key: Key) {
    var index = 0
    while 2 * index + 1 < keys.count {
      var child = 2 * index + 1
      if child + 1 < keys.count, keys[child + 1].isBefore(keys[child]) { child += 1 }
      guard keys[child].isBefore(key) else { break }
      keys[index] = keys[child]
      index = child
    }
    keys[index] = key
  }
}
