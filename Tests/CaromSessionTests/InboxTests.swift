import CaromTransport
import Testing

@testable import CaromSession

@Suite struct InboxTests {
  @Test func `a full inbox asks its sender to pause, and reports room when it is half empty`() {
    let (rooms, room) = AsyncStream<Void>.makeStream()
    let inbox = Inbox<Int>(limit: 4, overflow: .pause) { room.yield() }
    #expect((1...4).map { inbox.push($0) } == [true, true, true, false])
    #expect(inbox.pop() == 1)
    #expect(inbox.pop() == 2)
    room.finish()
    _ = rooms
    #expect(inbox.count == 2)
  }

  @Test func `an inbox is also full when its byte limit is reached`() {
    let inbox = Inbox<Int>(limit: 100, byteLimit: 10, overflow: .pause)
    #expect(inbox.push(1, bytes: 9))
    #expect(!inbox.push(2, bytes: 9))
    _ = inbox.pop()
    #expect(inbox.bytes == 9)
  }

  @Test func `a full inbox with dropOldest drops the oldest element`() {
    let inbox = Inbox<Int>(limit: 2, overflow: .dropOldest)
    for number in 1...5 { #expect(inbox.push(number)) }
    #expect(inbox.pop() == 4)
    #expect(inbox.pop() == 5)
    #expect(inbox.pop() == nil)
    #expect(inbox.dropped == 3)
  }

  @Test func `a full inbox with replace drops only the element that the new one makes stale`() {
    let inbox = Inbox<Int>(limit: 2, overflow: .replace { $0 % 10 == $1 % 10 })
    for number in [1, 2, 11, 3] { #expect(inbox.push(number)) }
    #expect([inbox.pop(), inbox.pop(), inbox.pop()] == [2, 11, 3])
  }

  @Test func `popNewest empties one key, and leaves the newest element of each other key`() {
    let inbox = Inbox<Int>(limit: 6, byteLimit: 60, overflow: .pause)
    for number in [1, 2, 11, 3, 12] { #expect(inbox.push(number, bytes: 5)) }
    #expect(!inbox.push(21, bytes: 5))
    #expect(inbox.popNewest(with: 1) { $0 % 10 } == 21)
    #expect(inbox.popNewest(with: 1) { $0 % 10 } == nil)
    #expect(inbox.bytes == 10 && inbox.push(4))
    #expect([inbox.pop(), inbox.pop(), inbox.pop(), inbox.pop()] == [3, 12, 4, nil])
  }

  @Test func `popNewest drops the elements of other keys that are not to be kept`() {
    let inbox = Inbox<Int>(limit: 4, byteLimit: 60, overflow: .dropOldest)
    for number in [1, 2, 3] { #expect(inbox.push(number, bytes: 5)) }
    #expect(inbox.popNewest(with: 1, by: { $0 % 10 }, keeping: { $0 != 2 }) == 1)
    #expect(inbox.count == 1 && inbox.bytes == 5)
    #expect(inbox.pop() == 3)
  }

  @Test func `a cancelled reader gets nil, and the next reader gets the element`() async {
    let inbox = Inbox<Int>(limit: 2, overflow: .pause)
    let reader = Task { await inbox.next() }
    reader.cancel()
    #expect(await reader.value == nil)
    _ = inbox.push(1)
    #expect(await inbox.next() == 1)
    inbox.finish()
    #expect(await inbox.next() == nil)
  }

  @Test func `a reader waits for the next element while another thread empties the inbox`()
    async
  {
    let reads = 10_000
    await withNetworkLoop { loop in
      let inbox = Inbox<Int>(limit: 4, overflow: .dropOldest)
      let other = Task(executorPreference: loop) {
        while !Task.isCancelled {
          for number in 0..<1_000 {
            _ = inbox.push(number)
            _ = inbox.pop()
          }
          await Task.yield()
        }
      }
      var count = 0
      while count < reads, await inbox.next() != nil { count += 1 }
      other.cancel()
      #expect(count == reads)
    }
  }

  @Test func `retry delays double up to the longest, with random jitter`() {
    var generator = SystemRandomNumberGenerator()
    let policy = RetryPolicy(
      attempts: 4, firstDelay: .milliseconds(100), longestDelay: .milliseconds(300))
    for (attempt, whole) in [(1, 100), (2, 200), (3, 300)] {
      let delay = policy.delay(after: attempt, using: &generator)
      #expect(delay! >= .milliseconds(whole / 2) && delay! <= .milliseconds(whole))
    }
    #expect(policy.delay(after: 4, using: &generator) == nil)
  }
}
