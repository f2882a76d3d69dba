/// What waits to be told, in order: a ring that grows to its need and no further than the limit.
@usableFromInline struct RollbackEventQueue<Event: Hashable & Sendable>: Sendable {
  /// The most events that wait to be fetched; then the oldest are dropped, and counted.
  @usableFromInline static var limit: Int { 4_096 }

  @usableFromInline var ring: [RollbackEvent<Event>?] = []
  @usableFromInline var head = 0
  @usableFromInline var count = 0

  @inlinable init() {}

  @inlinable mutating func push(
    _ event: RollbackEvent<Event>, _ counts: inout RollbackStatistics
  ) {
    if count == ring.count { makeRoom(&counts) }
    ring[(head + count) % ring.count] = event
    count += 1
  }

  @inlinable mutating func pop() -> RollbackEvent<Event>? {
    guard count > 0 else { return nil }
    defer {
      ring[head] = nil
      head = (head + 1) % ring.count
      count -= 1
    }
    return ring[head]
  }

  @inlinable mutating func makeRoom(_ counts: inout RollbackStatistics) {
    if ring.count >= Self.limit {
      _ = pop()
      counts.droppedEvents += 1
      return
    }
    let waiting = (0..<count).map { ring[(head + $0) % ring.count] }
    ring = waiting + Array(repeating: nil, count: max(16, ring.count))
    head = 0
  }
}
