import CaromCore
import Testing

@testable import CaromDiscovery

@Suite struct CoalescingStreamTests {
  typealias Change = DiscoveryChange<Int>

  /// What a reader of the backlog believes is there.
  private struct Reader {
    var seen: [Int: Int] = [:]

    mutating func read(_ change: Change) {
      switch change {
      case .added(let item):
        #expect(seen[item / 100] == nil, "added twice")
        seen[item / 100] = item
      case .updated(let item):
        #expect(seen[item / 100] != nil, "updated before it was added")
        seen[item / 100] = item
      case .removed(let item):
        #expect(seen.removeValue(forKey: item / 100) != nil, "removed twice")
      }
    }
  }

  private func makeBacklog(_ changes: Change...) -> CoalescingBuffer<Int, Change> {
    var backlog = CoalescingBuffer<Int, Change>()
    for change in changes { backlog.add(change, about: change.item / 100) { $0.merged(with: $1) } }
    return backlog
  }

  @Test func `unread changes of one subject become one`() {
    var backlog = makeBacklog(.added(100), .added(200), .updated(101), .updated(102))
    #expect(backlog.popAll() == [.added(102), .added(200)])
    backlog = makeBacklog(.updated(101), .removed(101))
    #expect(backlog.popAll() == [.removed(101)])
    backlog = makeBacklog(.removed(101), .added(102))
    #expect(backlog.popAll() == [.updated(102)])
  }

  @Test func `what came and went unread is not mentioned`() {
    var backlog = makeBacklog(.added(100), .added(200), .removed(100))
    #expect(backlog.count == 1)
    #expect(backlog.popAll() == [.added(200)])
    #expect(backlog.popFirst() == nil)
  }

  @Test func `a reader that is far behind ends at the truth, with one event a subject at most`() {
    var generator = SeededGenerator(seed: 7)
    var backlog = CoalescingBuffer<Int, Change>()
    var truth: [Int: Int] = [:]
    var reader = Reader()
    for step in 0..<5000 {
      let subject = Int.random(in: 0..<20, using: &generator)
      let item = subject * 100 + Int.random(in: 0..<100, using: &generator)
      let change: Change
      if truth[subject] == nil {
        change = .added(item)
      } else {
        change = Bool.random(using: &generator) ? .updated(item) : .removed(item)
      }
      if case .removed = change { truth[subject] = nil } else { truth[subject] = item }
      backlog.add(change, about: subject) { $0.merged(with: $1) }
      #expect(backlog.count <= 20)
      if step % 97 == 0 { backlog.popFirst().map { reader.read($0) } }
    }
    for change in backlog.popAll() { reader.read(change) }
    #expect(reader.seen == truth)
  }

  @Test func `a feed that nobody reads holds the newest state alone, then tells why it ended`()
    async throws
  {
    let feed = CoalescingStream<Int, Change> { $0.merged(with: $1) }
    for step in 0..<100_000 { feed.send(.updated(step), about: step % 10) }
    #expect(feed.count == 10)
    feed.finish(throwing: .closed)
    var reader = CoalescingStream.Reader(feed)
    for step in 0..<10 {
      #expect(try await reader.next(isolation: nil) { $0.popFirst() } == .updated(99_990 + step))
    }
    await #expect(throws: DiscoveryError.closed) {
      _ = try await reader.next(isolation: nil) { $0.popFirst() }
    }
    #expect(try await reader.next(isolation: nil) { $0.popFirst() } == nil)
  }

  @Test func `whoever waits for a feed is woken by an event and by being cancelled`() async throws {
    let feed = CoalescingStream<Int, Change> { $0.merged(with: $1) }
    let task = Task {
      var reader = CoalescingStream.Reader(feed)
      var read: [Change] = []
      while let change = try await reader.next(isolation: nil, { $0.popFirst() }) {
        read.append(change)
      }
      return read
    }
    feed.send(.added(1), about: 0)
    while feed.count > 0 { await Task.yield() }
    task.cancel()
    #expect(try await task.value == [.added(1)])
  }
}
