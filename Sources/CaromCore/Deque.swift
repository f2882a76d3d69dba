/// A double-ended queue in a ring buffer, with access by position from the front.
///
/// The buffer doubles when it is full and keeps its capacity, so a queue in its steady state does
/// not allocate. A `Deque` has no limit of its own: its owner bounds `count`.
@usableFromInline
package struct Deque<Element: Sendable>: Sendable {
  /// The ring buffer. Its length is zero or a power of two. Free slots are nil, so that removed
  /// elements are released immediately.
  @usableFromInline var slots: [Element?] = []
  // These are 32 bits wide because every channel of every connection has several queues.
  @usableFromInline var head: Int32 = 0
  @usableFromInline var length: Int32 = 0
  /// The largest number of elements since the last `trim()`.
  @usableFromInline var peak: Int32 = 0

  @inlinable package init() {}

  /// Returns the slot of the element at `position`. A position of -1 yields the slot before the
  /// first element.
  @inlinable func slot(_ position: Int) -> Int {
    (Int(head) &+ position) & (slots.count &- 1)
  }

  @inlinable package mutating func append(_ element: Element) {
    if count == slots.count { resize(to: Swift.max(2, 2 * count)) }
    slots[slot(count)] = element
    countInserted()
  }

  @inlinable package mutating func prepend(_ element: Element) {
    if count == slots.count { resize(to: Swift.max(2, 2 * count)) }
    head = Int32(truncatingIfNeeded: slot(-1))
    slots[Int(head)] = element
    countInserted()
  }

  @inlinable mutating func countInserted() {
    length += 1
    if length > peak { peak = length }
  }

  @inlinable @discardableResult
  package mutating func popFirst() -> Element? {
    guard length > 0 else { return nil }
    let element = slots[Int(head)].take()
    head = Int32(truncatingIfNeeded: slot(1))
    length &-= 1
    return element
  }

  @inlinable @discardableResult
  package mutating func popLast() -> Element? {
    guard length > 0 else { return nil }
    length &-= 1
    return slots[slot(count)].take()
  }

  /// Removes and returns the first element that satisfies `predicate`, or returns nil. The other
  /// elements keep their order.
  @inlinable package mutating func removeFirst(where predicate: (Element) -> Bool) -> Element? {
    guard let position = firstIndex(where: predicate) else { return nil }
    for later in position..<count - 1 { slots.swapAt(slot(later), slot(later + 1)) }
    return popLast()
  }

  /// Removes all elements that satisfy `predicate`. The other elements keep their order.
  @inlinable package mutating func removeAll(where predicate: (Element) -> Bool) {
    for _ in 0..<count {
      if let element = popFirst(), !predicate(element) { append(element) }
    }
  }

  /// Removes all elements, but keeps the capacity.
  @inlinable package mutating func removeAll() {
    while popFirst() != nil {}
    head = 0
  }

  /// Frees the capacity that has not been used since the previous call.
  @inlinable package mutating func trim() {
    defer { peak = length }
    guard slots.count > 64, Int(peak) * 4 <= slots.count else { return }
    var size = length == 0 ? 0 : 2
    while size < Int(peak), size > 0 { size *= 2 }
    resize(to: size)
  }

  @inlinable mutating func resize(to size: Int) {
    var resized = [Element?](repeating: nil, count: size)
    for position in 0..<count { swap(&resized[position], &slots[slot(position)]) }
    slots = resized
    head = 0
  }
}

extension Deque: RandomAccessCollection, MutableCollection {
  @inlinable package var startIndex: Int { 0 }
  @inlinable package var endIndex: Int { Int(length) }
  @inlinable package var count: Int { Int(length) }
  @inlinable package var isEmpty: Bool { length == 0 }
  @inlinable package var first: Element? { length == 0 ? nil : slots[Int(head)] }

  /// Accesses the element at `position`, counted from the front.
  @inlinable package subscript(position: Int) -> Element {
    get {
      precondition(position >= 0 && position < count, "the position is outside the queue")
      return slots[slot(position)]!
    }
    _modify {
      precondition(position >= 0 && position < count, "the position is outside the queue")
      let slot = slot(position)
      yield &slots[slot]!
    }
  }
}
