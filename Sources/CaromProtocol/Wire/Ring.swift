/// First in, first out, with access by position; it grows by doubling and keeps its room.
struct Ring<Element: BitwiseCopyable & Sendable>: Sendable {
  private var storage: [Element] = []
  // 32 bits each: every channel of every connection has several rings.
  private var start: Int32 = 0
  private var length: Int32 = 0
  private var mostSinceTrim: Int32 = 0

  var count: Int { Int(length) }
  var isEmpty: Bool { length == 0 }
  var first: Element? { length == 0 ? nil : storage[Int(start)] }

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
    return place(position)
  }

  private func place(_ position: Int) -> Int {
    (Int(start) &+ position) & (storage.count &- 1)
  }

  mutating func append(_ element: Element) {
    if count == storage.count { resize(to: max(2, 2 * count), filler: element) }
    storage[place(count)] = element
    length &+= 1
    if length > mostSinceTrim { mostSinceTrim = length }
  }

  /// Puts an element before all others.
  mutating func prepend(_ element: Element) {
    if count == storage.count { resize(to: max(2, 2 * count), filler: element) }
    start = Int32(place(-1))
    storage[Int(start)] = element
    length &+= 1
    if length > mostSinceTrim { mostSinceTrim = length }
  }

  @discardableResult
  mutating func popFirst() -> Element? {
    guard length > 0 else { return nil }
    let element = storage[Int(start)]
    start = Int32(truncatingIfNeeded: place(1))
    length &-= 1
    return element
  }

  /// Takes back the element that was appended last.
  mutating func removeLast() {
    precondition(length > 0, "something to remove")
    length &-= 1
  }

  mutating func removeAll() {
    start = 0
    length = 0
  }

  /// Gives back room that was not used since the last time.
  mutating func trim() {
    defer { mostSinceTrim = length }
    guard storage.count > 64, Int(mostSinceTrim) * 4 <= storage.count else { return }
    guard let filler = first else {
      storage = []
      start = 0
      return
    }
    var size = 2
    while size < Int(mostSinceTrim) { size *= 2 }
    resize(to: size, filler: filler)
  }

  private mutating func resize(to size: Int, filler: Element) {
    var grown: [Element] = []
    grown.reserveCapacity(size)
    for position in 0..<count { grown.append(self[position]) }
    grown.append(contentsOf: repeatElement(filler, count: size - count))
    storage = grown
    start = 0
  }
}
