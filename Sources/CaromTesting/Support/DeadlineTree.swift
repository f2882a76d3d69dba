import CaromCore

/// One deadline a place, the earliest of all at the top: O(1) to read, O(log n) to change.
struct DeadlineTree: Sendable {
  /// A full binary tree from index 1 on; each node is the earliest below it. Place n is the leaf
  /// `leafCount + n`.
  private var nodes = [Instant](repeating: .distantFuture, count: 2)
  private var leafCount = 1

  /// The earliest deadline; `nil` where there is none.
  var first: Instant? { nodes[1] == .distantFuture ? nil : nodes[1] }

  mutating func set(_ deadline: Instant?, at place: Int) {
    while place >= leafCount { grow() }
    var index = leafCount + place
    nodes[index] = deadline ?? .distantFuture
    while index > 1 {
      index /= 2
      nodes[index] = min(nodes[2 * index], nodes[2 * index + 1])
    }
  }

  /// The first place from `start` on whose deadline is at `now` or before.
  func place(from start: Int, dueAt now: Instant) -> Int? {
    guard start < leafCount else { return nil }
    var index = leafCount + start
    while nodes[index] > now {
      while index & 1 == 1 { index /= 2 }  // up as long as it is a right child, or the top
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
