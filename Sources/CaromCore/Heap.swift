/// An element of a `Heap`.
@usableFromInline
package protocol HeapElement {
  /// Returns whether this element must be removed from the heap before `other`.
  func precedes(_ other: Self) -> Bool

  /// Notifies the element that it has moved to `index` in the heap. An element that stores the
  /// index can be moved or removed later.
  func didMove(to index: Int)
}

extension HeapElement {
  @inlinable package func didMove(to index: Int) {}
}

/// A binary heap, in which `first` precedes all other elements.
///
/// The children of the element at index n are at 2n + 1 and 2n + 2.
@usableFromInline
package struct Heap<Element: HeapElement> {
  @usableFromInline var elements: [Element] = []

  @inlinable package init() {}

  @inlinable package var count: Int { elements.count }
  @inlinable package var isEmpty: Bool { elements.isEmpty }
  @inlinable package var first: Element? { elements.first }

  @inlinable package mutating func insert(_ element: Element) {
    elements.append(element)
    element.didMove(to: elements.count - 1)
    siftUp(from: elements.count - 1)
  }

  @inlinable @discardableResult
  package mutating func popFirst() -> Element? { elements.isEmpty ? nil : remove(at: 0) }

  @inlinable @discardableResult
  package mutating func remove(at index: Int) -> Element {
    let last = elements.removeLast()
    guard index < elements.count else { return last }
    let removed = elements[index]
    elements[index] = last
    last.didMove(to: index)
    updatePosition(of: index)
    return removed
  }

  /// Restores the heap's order after the sort key of the element at `index` has changed.
  @inlinable package mutating func updatePosition(of index: Int) {
    siftDown(from: siftUp(from: index))
  }

  /// Removes all elements that satisfy `predicate`.
  @inlinable package mutating func removeAll(where predicate: (Element) -> Bool) {
    elements.removeAll(where: predicate)
    for index in elements.indices { elements[index].didMove(to: index) }
    for index in (0..<elements.count / 2).reversed() { siftDown(from: index) }
  }

  /// Moves an element towards the root while it precedes its parent, and returns its new index.
  @inlinable @discardableResult
  mutating func siftUp(from index: Int) -> Int {
    var index = index
    while index > 0, elements[index].precedes(elements[(index - 1) / 2]) {
      swap(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
    return index
  }

  @inlinable mutating func siftDown(from index: Int) {
    var parent = index
    while 2 * parent + 1 < elements.count {
      var child = 2 * parent + 1
      if child + 1 < elements.count, elements[child + 1].precedes(elements[child]) { child += 1 }
      guard elements[child].precedes(elements[parent]) else { return }
      swap(parent, child)
      parent = child
    }
  }

  @inlinable mutating func swap(_ a: Int, _ b: Int) {
    elements.swapAt(a, b)
    elements[a].didMove(to: a)
    elements[b].didMove(to: b)
  }
}

extension Heap: Sendable where Element: Sendable {}
