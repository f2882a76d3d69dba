import CaromCore
import Testing

@testable import CaromDiscovery

@Suite struct CoalescingStreamTests {
  typealias Change = DiscoveryChange<Int>

  /// A reader that applies changes to its view of the items, and checks that they fit.
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

  private func makeBuffer(_ changes: Change...) -> CoalescingBuffer<Int, Change> {
    var buffer = CoalescingBuffer<Int, Change>()
    for change in changes { buffer.add(change, about: change.item / 100) { $0.merged(with: $1) } }
    return buffer
  }

  @Test func `unread changes of one subject become one`() {
    var buffer = makeBuffer(.added(100), .added(200), .updated(101), .updated(102))
    #expect(buffer.popAll() == [.added(102), .added(200)])
    buffer = makeBuffer(.updated(101), .removed(101))
    #expect(buffer.popAll() == [.removed(101)])
    buffer = makeBuffer(.removed(101), .added(102))
    #expect(buffer.popAll() == [.updated(102)])
  }

  @Test func `an unread addition and its removal cancel out`() {
    var buffer = makeBuffer(.added(100), .added(200), .removed(100))
    #expect(buffer.count == 1)
    #expect(buffer.popAll() == [.added(200)])
    #expect(buffer.popFirst() == nil)
  }

  @Test func `a slow reader ends with the current state and queues at most one event per subject`()
  {
    var generator = SeededGenerator(seed: 7)
    var buffer = CoalescingBuffer<Int, Change>()
    var current: [Int: Int] = [:]
    var reader = Reader()
    for step in 0..<5000 {
      let subject = Int.random(in: 0..<20, using: &generator)
      let item = subject * 100 + Int.random(in: 0..<100, using: &generator)
      let change: Change
      if current[subject] == nil {
        change = .added(item)
      } else {
        change = Bool.random(using: &generator) ? .updated(item) : .removed(item)
      }
      if case .removed = change { current[subject] = nil } else { current[subject] = item }
      buffer.add(change, about: subject) { $0.merged(with: $1) }
      #expect(buffer.count <= 20)
      if step % 97 == 0 { buffer.popFirst().map { reader.read($0) } }
    }
    for change in buffer.popAll() { reader.read(change) }
    #expect(reader.seen == current)
  }

  @Test func `an unread stream keeps only the newest event per subject, then reports its error`()
    async throws
  {
    let stream = CoalescingStream<Int, Change> { $0.merged(with: $1) }
    for step in 0..<100_000 { stream.send(.updated(step), about: step % 10) }
    #expect(stream.count == 10)
    stream.finish(throwing: .closed)
    var reader = CoalescingStream.Reader(stream)
    for step in 0..<10 {
      #expect(try await reader.next(isolation: nil) { $0.popFirst() } == .updated(99_990 + step))
    }
    await #expect(throws: DiscoveryError.closed) {
      _ = try await reader.next(isolation: nil) { $0.popFirst() }
    }
    #expect(try await reader.next(isolation: nil) { $0.popFirst() } == nil)
  }

  @Test func `a waiting reader is resumed by an event and by cancellation`() async throws {
    let stream = CoalescingStream<Int, Change> { $0.merged(with: $1) }
    let task = Task {
      var reader = CoalescingStream.Reader(stream)
      var read: [Change] = []
      while let change = try await reader.next(isolation: nil, { $0.popFirst() }) {
        read.append(change)
      }
      return read
    }
    stream.send(.added(1), about: 0)
    while stream.count > 0 { await Task.yield() }
    task.cancel()
    #expect(try await task.value == [.added(1)])
  }
}
