/// First in, first out, with access by position; it grows by doubling and keeps its room.
struct Ring<Element: BitwiseCopyable & Sendable>: Sendable {
  private var storage: [Element] = []
  private var head = 0
  private(set) var count = 0
  private var mostSinceTrim = 0

  var isEmpty: Bool { count == 0 }
  var first: Element? { count == 0 ? nil : storage[head] }

  /// The element at `position` from the front.
  subscript(position: Int) -> Element {
    get { storage[slot(position)] }
    _modify {
      let slot = slot(position)
      yield &storage[slot]
    }
  }

  private func slot(_ position: Int) -> Int {
    precondition(position >= 0 && position < count, "a position inside the ring")
    return (head &+ position) & (storage.count &- 1)
  }

  mutating func append(_ element: Element) {
    if count == storage.count { resize(to: max(4, 2 * count), filler: element) }
    storage[(head &+ count) & (storage.count &- 1)] = element
    count &+= 1
    if count > mostSinceTrim { mostSinceTrim = count }
  }

  /// Puts an element before all others.
  mutating func prepend(_ element: Element) {
    if count == storage.count { resize(to: max(4, 2 * count), filler: element) }
    head = (head &- 1) & (storage.count &- 1)
    storage[head] = element
    count &+= 1
    if count > mostSinceTrim { mostSinceTrim = count }
  }

  @discardableResult
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = storage[head]
    head = (head &+ 1) & (storage.count &- 1)
    count &-= 1
    return element
  }

  /// Takes back the element that was appended last.
  mutating func removeLast() {
    precondition(count > 0, "something to remove")
    count &-= 1
  }

  mutating func removeAll() {
    head = 0
    count = 0
  }

  /// Gives back room that was not used since the last time.
  mutating func trim() {
    defer { mostSinceTrim = count }
    guard storage.count > 64, mostSinceTrim * 4 <= storage.count else { return }
    guard let filler = first else {
      storage = []
      head = 0
      return
    }
    var size = 4
    while size < mostSinceTrim { size *= 2 }
    resize(to: size, filler: filler)
  }

  private mutating func resize(to size: Int, filler: Element) {
    var grown: [Element] = []
    grown.reserveCapacity(size)
    for position in 0..<count { grown.append(self[position]) }
    grown.append(contentsOf: repeatElement(filler, count: size - count))
    storage = grown
    head = 0
  }
}
