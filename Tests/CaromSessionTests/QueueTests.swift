import CaromCore
import CaromProtocol
import Synchronization
import Testing

@testable import CaromSession

/// The bounded queues between threads, at their limits.
@Suite struct QueueTests {
  @Test func `a queue of posts takes elements up to its limit, and again once it was emptied`() {
    let queue = PostQueue<Int>(limit: 3)
    for _ in 0..<2 {
      #expect(queue.append(1) == .isFirst)
      #expect(queue.append(2) == .isMore)
      #expect(queue.append(3) == .isMore)
      #expect(queue.append(4) == .isFull)
      #expect(queue.append(5, isBounded: false) == .isMore)
      #expect(queue.removeAll() == [1, 2, 3, 5])
    }
    #expect(queue.removeAll() == [])
  }

  @Test func `a queue of posts takes bytes up to its limit, and again once it was emptied`() {
    let queue = PostQueue<Int>(limit: 100, byteLimit: 10)
    #expect(queue.append(0, bytes: 11) == .isFull)
    for _ in 0..<2 {
      #expect(queue.append(1, bytes: 4) == .isFirst)
      #expect(queue.append(2, bytes: 7) == .isFull)
      #expect(queue.append(3, bytes: 6) == .isMore)
      #expect(queue.append(4, bytes: 1) == .isFull)
      #expect(queue.append(5, bytes: 0) == .isMore)
      #expect(queue.removeAll() == [1, 3, 5])
    }
  }

  @Test func `4,096 messages with 4 MiB can be posted to a loop at a time`() {
    #expect(PostedMessage.limit == 4_096)
    #expect(PostedMessage.byteLimit == 4_194_304)
    #expect(NodeHandoff.datagramLimit == 4_096 && NodeHandoff.streamLimit == 4_096)
  }

  /// An inbox that counts its calls of `onRoom`.
  private func makeInbox(
    limit: Int, byteLimit: Int = .max
  ) -> (inbox: Inbox<Int>, rooms: () -> Int) {
    let rooms = Counter()
    let inbox = Inbox<Int>(limit: limit, byteLimit: byteLimit, overflow: .pause) { rooms.add() }
    return (inbox, { rooms.value })
  }

  private final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
  }

  @Test func `a batch enters its inbox at 64 elements, at 16 KiB, or when it is flushed`() {
    let (inbox, _) = makeInbox(limit: 1_000)
    let batch = InboxBatch(for: inbox)
    for number in 0..<63 { #expect(batch.append(number, bytes: 1)) }
    #expect(inbox.count == 0 && batch.append(63, bytes: 1) && inbox.count == 64)
    #expect(batch.append(64, bytes: (16 << 10) - 1) && inbox.count == 64)
    #expect(batch.append(65, bytes: 1) && inbox.count == 66)
    #expect(batch.append(66, bytes: 1) && inbox.count == 66)
    #expect(batch.flush() && batch.flush())
    #expect((0..<67).compactMap { _ in inbox.pop() } == Array(0..<67))
  }

  @Test func `a batch that fills its inbox pauses its sender`() {
    let (inbox, rooms) = makeInbox(limit: 5)
    let batch = InboxBatch(for: inbox)
    for number in 0..<4 { #expect(batch.append(number, bytes: 1)) }
    #expect(batch.flush())
    #expect(batch.append(4, bytes: 1) && !batch.flush())
    while inbox.pop() != nil {}
    #expect(rooms() == 1)
  }

  @Test func `a waiting reader gets the first element of a batch, and then the others`() async {
    let (inbox, _) = makeInbox(limit: 5)
    let reader = Task { [await inbox.next(), await inbox.next(), await inbox.next()] }
    let batch = InboxBatch(for: inbox)
    for number in 1...3 { _ = batch.append(number, bytes: 1) }
    _ = batch.flush()
    #expect(await reader.value == [1, 2, 3])
  }

  @Test func `a paused sender is resumed at half of the limit of elements, not earlier`() {
    let (inbox, rooms) = makeInbox(limit: 5)
    for number in 1...6 { _ = inbox.push(number) }
    var counts: [Int] = []
    while inbox.pop() != nil { counts.append(rooms()) }
    #expect(counts == [0, 0, 0, 1, 1, 1])
    #expect(inbox.push(7) && rooms() == 1)
  }

  @Test func `a paused sender is resumed at half of the limit of bytes, not earlier`() {
    let (inbox, rooms) = makeInbox(limit: 100, byteLimit: 10)
    #expect(inbox.push(1, bytes: 4))
    #expect(inbox.push(2, bytes: 5))
    #expect(!inbox.push(3, bytes: 1))
    #expect(!inbox.push(4, bytes: 5))
    #expect(inbox.bytes == 15)
    var counts: [Int] = []
    while inbox.pop() != nil { counts.append(rooms()) }
    #expect(counts == [0, 0, 1, 1])
    #expect(inbox.bytes == 0)
  }

  @Test func `a full inbox with dropOldest drops until there is room for bytes`() {
    let inbox = Inbox<Int>(limit: 100, byteLimit: 10, overflow: .dropOldest)
    for number in 1...3 { #expect(inbox.push(number, bytes: 3)) }
    #expect(inbox.push(4, bytes: 3) && inbox.count == 4)
    #expect(inbox.push(5, bytes: 1))
    #expect(inbox.bytes == 10 && inbox.dropped == 1)
    #expect([inbox.pop(), inbox.pop(), inbox.pop(), inbox.pop()] == [2, 3, 4, 5])
  }

  @Test func `a full inbox with replace grows if no element is stale`() {
    let inbox = Inbox<Int>(limit: 2, byteLimit: 10, overflow: .replace { $0 % 10 == $1 % 10 })
    for number in [1, 2, 3, 4] { #expect(inbox.push(number, bytes: 1)) }
    #expect(inbox.count == 4 && inbox.dropped == 0)
    #expect(inbox.push(13, bytes: 1))
    #expect(inbox.dropped == 1 && inbox.bytes == 4)
    #expect([inbox.pop(), inbox.pop(), inbox.pop(), inbox.pop()] == [1, 2, 4, 13])
  }

  @Test func `an inbox that has ended ignores new elements and keeps those it has`() async {
    let (inbox, _) = makeInbox(limit: 5)
    #expect(inbox.push(1))
    inbox.finish()
    #expect(inbox.push(2) && inbox.count == 1)
    #expect(await inbox.next() == 1)
    #expect(await inbox.next() == nil)
    #expect(await inbox.next() == nil)
  }

  @Test func `a reader that waits gets the next element, which is never counted as unread`()
    async
  {
    let inbox = Inbox<Int>(limit: 1, byteLimit: 1, overflow: .pause)
    let reader = Task.immediate { await inbox.next() }
    #expect(inbox.push(7, bytes: 5))
    #expect(inbox.count == 0 && inbox.bytes == 0)
    #expect(await reader.value == 7)
    let last = Task.immediate { await inbox.next() }
    inbox.finish()
    #expect(await last.value == nil)
  }

  @Test func `a reader that waits after a cancelled one gets the next element`() async {
    let (inbox, _) = makeInbox(limit: 5)
    let cancelled = Task.immediate { await inbox.next() }
    cancelled.cancel()
    #expect(await cancelled.value == nil)
    let reader = Task.immediate { await inbox.next() }
    _ = inbox.push(7)
    #expect(await reader.value == 7)
  }

  @Test func `256 requests wait for an answer, and one more is refused until one is answered`()
    async
  {
    await withUnconnectedPeer { peer in
      let queue = RequestQueue<Note>()
      let entries = (0..<257).map {
        RequestQueue<Note>.Entry(peer: peer, number: $0, request: Note([]))
      }
      for entry in entries.dropLast() { #expect(queue.append(entry)) }
      #expect(!queue.append(entries[256]) && queue.inbox.count == 256)
      #expect(queue.inbox.pop()?.number == 0)
      #expect(queue.append(entries[256]))
      #expect(!queue.append(entries[0]))
    }
  }
}
