/// A tournament tree of one optional deadline per index. Reading the earliest deadline takes O(1)
/// time, and changing a deadline takes O(log n). Unlike a heap, the tree finds due deadlines in
/// order of index.
package struct DeadlineTree: Sendable {
  /// A complete binary tree with its root at index 1. Each node is the earlier of its two children.
  /// The deadline with index n is the leaf at index `leafCount + n`.
  private var nodes = [Instant](repeating: .distantFuture, count: 2)
  private var leafCount = 1

  package init() {}

  /// The earliest deadline, or nil if there is none.
  package var first: Instant? { nodes[1] == .distantFuture ? nil : nodes[1] }

  package mutating func set(_ deadline: Instant?, at leaf: Int) {
    while leaf >= leafCount { grow() }
    var index = leafCount + leaf
    var earliest = deadline ?? .distantFuture
    guard nodes[index] != earliest else { return }
    var tree = nodes.mutableSpan
    // Above a node that keeps its deadline, nothing changes.
    while tree[index] != earliest {
      tree[index] = earliest
      guard index > 1 else { return }
      earliest = min(earliest, tree[index ^ 1])
      index /= 2
    }
  }

  /// Returns the first index not below `start` whose deadline is at or before `now`, or nil if
  /// there is none.
  package func firstIndex(from start: Int, dueAt now: Instant) -> Int? {
    guard start < leafCount else { return nil }
    var index = leafCount + start
    while nodes[index] > now {
      while index & 1 == 1 { index /= 2 }  // ascend while the node is a right child or the root
      guard index > 0 else { return nil }
      index += 1
    }
    while index < leafCount { index = nodes[2 * index] <= now ? 2 * index : 2 * index + 1 }
    return index - leafCount
  }

  private mutating func grow() {
    let old = nodes[leafCount...]
    leafCount *= 2
    nodes = [Instant](repeating: .distantFuture, count: leafCount)
    nodes += old
    nodes += [Instant](repeating: .distantFuture, count: leafCount - old.count)
    for index in stride(from: leafCount - 1, to: 0, by: -1) {
      nodes[index] = min(nodes[2 * index], nodes[2 * index + 1])
    }
  }
}
