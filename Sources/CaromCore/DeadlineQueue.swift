/// A priority queue of elements, ordered by deadline. Elements with equal deadlines are removed in
/// the order in which they were inserted.
@usableFromInline
package struct DeadlineQueue<Element: Sendable>: Sendable {
  @usableFromInline struct Node: HeapElement, Sendable {
    @usableFromInline var deadline: Instant
    /// The number of elements that were inserted before this element.
    @usableFromInline var order: UInt64
    @usableFromInline var element: Element

    @inlinable init(deadline: Instant, order: UInt64, element: Element) {
      self.deadline = deadline
      self.order = order
      self.element = element
    }

    @inlinable func precedes(_ other: Node) -> Bool {
      (deadline, order) < (other.deadline, other.order)
    }
  }

  @usableFromInline var nodes = Heap<Node>()
  @usableFromInline var nextOrder: UInt64 = 0

  @inlinable package init() {}

  @inlinable package var count: Int { nodes.count }

  /// The earliest deadline, or nil if the queue is empty.
  @inlinable package var nextDeadline: Instant? { nodes.first?.deadline }

  @inlinable package mutating func insert(_ element: Element, at deadline: Instant) {
    nodes.insert(Node(deadline: deadline, order: nextOrder, element: element))
    nextOrder += 1
  }

  /// Removes and returns the element with the earliest deadline, or nil if no deadline is at or
  /// before `now`.
  @inlinable package mutating func popFirst(until now: Instant) -> Element? {
    guard let first = nodes.first, first.deadline <= now else { return nil }
    return nodes.popFirst()?.element
  }

  /// Removes all elements that satisfy `predicate`.
  @inlinable package mutating func removeAll(where predicate: (Element) -> Bool) {
    nodes.removeAll { predicate($0.element) }
  }
}
