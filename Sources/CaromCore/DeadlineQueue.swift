/// A heap of elements by deadline; equal deadlines leave in the order in which they came.
@usableFromInline
package struct DeadlineQueue<Element: Sendable>: Sendable {
  @usableFromInline struct Node: Sendable {
    @usableFromInline var deadline: Instant
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

  @usableFromInline var nodes: [Node] = []
  @usableFromInline var nextOrder: UInt64 = 0

  @inlinable package init() {}

  @inlinable package var count: Int { nodes.count }
  /// The earliest deadline.
  @inlinable package var first: Instant? { nodes.first?.deadline }
  /// What has the earliest deadline.
  @inlinable package var firstElement: Element? { nodes.first?.element }

  @inlinable package mutating func insert(_ element: Element, at deadline: Instant) {
    nodes.append(Node(deadline: deadline, order: nextOrder, element: element))
    nextOrder += 1
    var child = nodes.count - 1
    while child > 0, nodes[child].precedes(nodes[(child - 1) / 2]) {
      nodes.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// The earliest element whose deadline is `now` or before.
  @inlinable package mutating func popFirst(until now: Instant) -> Element? {
    guard let first = nodes.first, first.deadline <= now else { return nil }
    let last = nodes.removeLast()
    guard !nodes.isEmpty else { return first.element }
    nodes[0] = last
    var parent = 0
    while true {
      var least = 2 * parent + 1
      guard least < nodes.count else { return first.element }
      if least + 1 < nodes.count, nodes[least + 1].precedes(nodes[least]) { least += 1 }
      guard nodes[least].precedes(nodes[parent]) else { return first.element }
      nodes.swapAt(parent, least)
      parent = least
    }
  }

  /// Keeps what `isIncluded` says.
  @inlinable package mutating func filter(_ isIncluded: (Element) -> Bool) {
    let kept = nodes.filter { isIncluded($0.element) }.sorted { $0.precedes($1) }
    nodes = kept
  }
}
