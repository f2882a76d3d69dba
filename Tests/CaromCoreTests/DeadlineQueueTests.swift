import CaromCore
import Testing

@Suite struct DeadlineQueueTests {
  @Test func `elements are removed in the order of their deadlines, then of insertion`() {
    var generator = SeededGenerator(seed: 6)
    var queue = DeadlineQueue<Int>()
    var deadlines: [Int64] = []
    for number in 0..<1_000 {
      deadlines.append(.random(in: 0..<100, using: &generator))
      queue.insert(number, at: Instant(nanoseconds: deadlines[number]))
    }
    queue.removeAll { $0 % 7 == 0 }
    let expected = deadlines.indices.filter { $0 % 7 != 0 }.sorted {
      (deadlines[$0], $0) < (deadlines[$1], $1)
    }
    var removed: [Int] = []
    while let next = queue.popFirst(until: .distantFuture) { removed.append(next) }
    #expect(removed == expected)
    #expect(queue.count == 0 && queue.nextDeadline == nil)
  }

  @Test func `an element stays in the queue until its deadline`() {
    var queue = DeadlineQueue<String>()
    queue.insert("late", at: Instant(nanoseconds: 20))
    queue.insert("early", at: Instant(nanoseconds: 10))
    #expect(queue.nextDeadline == Instant(nanoseconds: 10))
    #expect(queue.popFirst(until: Instant(nanoseconds: 9)) == nil)
    #expect(queue.popFirst(until: Instant(nanoseconds: 10)) == "early")
    #expect(queue.popFirst(until: Instant(nanoseconds: 19)) == nil)
    #expect(queue.count == 1)
  }
}
