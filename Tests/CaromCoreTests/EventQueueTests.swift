import Testing

@testable import CaromCore

@Suite struct EventQueueTests {
  @Test func `a reader in time gets every event in order`() {
    var queue = EventQueue<Int>(limit: 3)
    for event in 1...3 { queue.append(event) }
    #expect((0..<4).map { _ in queue.popFirst { -$0 } } == [1, 2, 3, nil])
  }

  @Test func `a reader that fell behind is told once how many events were dropped`() {
    var queue = EventQueue<Int>(limit: 3)
    for event in 1...5 { queue.append(event) }
    #expect((0..<5).map { _ in queue.popFirst { -$0 } } == [-2, 3, 4, 5, nil])
    for event in 6...9 { queue.append(event) }
    #expect((0..<5).map { _ in queue.popFirst { -$0 } } == [-1, 7, 8, 9, nil])
  }
}
