import CaromCore

/// A heap of elements by deadline; equal deadlines leave in the order in which they came.
struct DeadlineQueue<Element: Sendable>: Sendable {
  private struct Node: Sendable {
    var deadline: Instant
    var order: UInt64
    var element: Element

    func precedes(_ other: Node) -> Bool { (deadline, order) < (other.deadline, other.order) }
  }

  private var nodes: [Node] = []
  private var nextOrder: UInt64 = 0

  var count: Int { nodes.count }
  /// The earliest deadline.
  var first: Instant? { nodes.first?.deadline }

  mutating func insert(_ element: Element, at deadline: Instant) {
    nodes.append(Node(deadline: deadline, order: nextOrder, element: element))
    nextOrder += 1
    var child = nodes.count - 1
    while child > 0, nodes[child].precedes(nodes[(child - 1) / 2]) {
      nodes.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// The earliest element whose deadline is `now` or before.
  mutating func popFirst(until now: Instant) -> Element? {
    guard let first = nodes.first, first.deadline <= now else { return nil }
    let last = nodes.removeLast()
    guard !nodes.isEmpty else { return first.element }
    nodes[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < nodes.count {
        if nodes[child].precedes(nodes[least]) { least = child }
      }
      guard least != parent else { return first.element }
      nodes.swapAt(parent, least)
      parent = least
    }
  }

  /// Keeps what `isIncluded` says.
  mutating func filter(_ isIncluded: (Element) -> Bool) {
    let kept = nodes.filter { isIncluded($0.element) }.sorted { $0.precedes($1) }
    nodes = kept
  }
}
