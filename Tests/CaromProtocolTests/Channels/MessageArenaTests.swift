import CaromCore
import Testing

@testable import CaromProtocol

/// The memory of messages, the queue of unread ones, and sets of channels.
@Suite struct MessageArenaTests {
  @Test func `a buffer has the next power of two of bytes, at least 64`() {
    for (count, size) in [
      (0, 64), (1, 64), (64, 64), (65, 128), (128, 128), (129, 256), (1_025, 2_048),
      (524_289, 1 << 20), (1 << 20, 1 << 20),
    ] {
      var arena = MessageArena()
      let slot = arena.allocate(count)
      #expect(arena[slot].count == size, "\(count) bytes")
      #expect(arena.usedBytes == size && arena.heldBytes == size)
      arena.release(slot)
      #expect(arena.usedBytes == 0 && arena.heldBytes == size)
    }
  }

  @Test func `a free buffer is used again, and one in use is not`() {
    var arena = MessageArena()
    let slots = (0..<3).map { _ in arena.allocate(100) }
    #expect(Set(slots).count == 3)
    arena.release(slots[1])
    arena.release(slots[0])
    let other = arena.allocate(300)
    #expect(!slots.contains(other))
    let again = [arena.allocate(65), arena.allocate(128)]
    #expect(Set(again) == [slots[0], slots[1]])
    #expect(arena.heldBytes == 3 * 128 + 512 && arena.usedBytes == arena.heldBytes)
    let fourth = arena.allocate(100)
    #expect(!(slots + [other]).contains(fourth))
  }

  @Test func `a message is stored at the beginning of its buffer, and a fragment at its offset`() {
    var arena = MessageArena()
    let message = makeMessage(3, length: 100)
    let slot = arena.store(message.span)
    #expect(Array(arena[slot].prefix(100)) == message)
    arena.write([1, 2, 3].span, to: slot, at: 97)
    #expect(Array(arena[slot].prefix(100)) == message.dropLast(3) + [1, 2, 3])
  }

  /// The sizes of small messages, of which spare buffers are kept, and of longer ones.
  @Test func `buffers that were not needed between two trims are freed, except for spares`() {
    let sizes = [64, 128, 256, 512, 1_024, 2_048, 4_096, 65_536]
    var arena = MessageArena()
    let slots = sizes.flatMap { size in (0..<5).map { _ in arena.allocate(size) } }
    for slot in slots { arena.release(slot) }
    let all = arena.heldBytes
    arena.trim()
    #expect(arena.heldBytes == all, "all of them were needed since the previous call")
    arena.trim()
    #expect(arena.heldBytes == 3 * (64 + 128 + 256) + 512 + 1_024 + 2_048)
    arena.trim()
    #expect(arena.heldBytes == 3 * (64 + 128 + 256) + 512 + 1_024 + 2_048)
    _ = arena.allocate(65_536)
    #expect(arena.count == slots.count, "freed slots are used again")
  }

  @Test func `buffers that are needed now and then are not freed`() {
    var arena = MessageArena()
    func use(_ count: Int, _ arena: inout MessageArena) {
      let slots = (0..<count).map { _ in arena.allocate(4_096) }
      for slot in slots { arena.release(slot) }
    }
    use(5, &arena)
    for _ in 0..<3 {
      arena.trim()
      use(2, &arena)
    }
    #expect(arena.heldBytes == 2 * 4_096)
  }

  // MARK: Unread messages

  @Test func `a message in the queue of unread ones can be replaced until it is read`() {
    func message(_ channel: UInt8) -> ReadyQueue.Message {
      ReadyQueue.Message(buffer: 0, length: 0, lane: 0, channel: channel, delivery: .unreliable)
    }
    var queue = ReadyQueue()
    let places = (1...3).map { queue.append(message($0)) }
    let first = queue.popFirst()
    #expect(first?.channel == 1)
    let later = queue.append(message(4))
    let old = [queue.replace(message(20), at: places[1]), queue.replace(message(40), at: later)]
    #expect(old.map(\.channel) == [2, 4])
    let rest = (0..<4).map { _ in queue.popFirst()?.channel }
    #expect(rest == [20, 3, 40, nil] && queue.isEmpty)
  }

  @Test func `a set of channels contains channels 0 to 63`() {
    #expect(ChannelMask().isEmpty && !ChannelMask().contains(0))
    #expect(ChannelMask.all.contains(0) && ChannelMask.all.contains(63))
    #expect(!ChannelMask.all.contains(64))
    var mask = ChannelMask()
    for channel in [0, 5, 63] as [UInt8] { mask.insert(channel) }
    mask.insert(5)
    #expect(mask.bits == 1 << 63 | 1 << 5 | 1 && !mask.contains(4))
    mask.remove(5)
    mask.remove(5)
    #expect(mask.contains(0) && !mask.contains(5) && mask.contains(63) && !mask.isEmpty)
  }
}
