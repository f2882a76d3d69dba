import CaromCore

/// Room for messages, in buffers of powers of two that are kept and used again: a message is
/// copied in once, and in the steady state nothing is allocated.
struct MessageArena: Sendable {
  /// A buffer's place; `none` stands for "no buffer".
  typealias Slot = Int32
  static let none: Slot = -1
  /// The smallest buffer is 64 bytes; each class is twice the one before.
  private static let smallestShift = 6
  private static let classCount = 15
  /// Buffers that are kept though nobody needed them, so that what comes together now and then, as
  /// pings with a game's messages, allocates nothing: three up to 256 bytes, one up to 2 KiB.
  private static func spare(_ kind: Int) -> Int32 { kind < 3 ? 3 : kind < 6 ? 1 : 0 }

  struct Buffer: Sendable {
    var bytes: [UInt8]
    /// The next free one of its class.
    fileprivate var next = none
  }

  /// The free buffers of one class, as a list through them.
  private struct Free: Sendable {
    var first = none
    var count: Int32 = 0
    var least: Int32 = 0
  }

  /// All buffers, by their slots; to be read in place.
  private(set) var buffers: [Buffer] = []
  private var emptySlots: [Slot] = []
  private var free = InlineArray<15, Free>(repeating: Free())
  /// Bytes of the buffers that hold messages.
  private(set) var usedBytes = 0
  /// Bytes of all buffers.
  private(set) var heldBytes = 0

  private static func kind(of count: Int) -> Int {
    max(0, Int.bitWidth - (max(count, 1) - 1).leadingZeroBitCount - smallestShift)
  }

  /// A buffer for `count` bytes; what stands in it is arbitrary.
  mutating func allocate(_ count: Int) -> Slot {
    precondition(count <= ChannelLimits.messageLength, "a message is at most 1 MiB")
    let kind = Self.kind(of: count)
    usedBytes += 1 << (kind + Self.smallestShift)
    return popFree(kind) ?? grow(kind)
  }

  private mutating func popFree(_ kind: Int) -> Slot? {
    let slot = free[kind].first
    guard slot != Self.none else { return nil }
    free[kind].first = buffers[Int(slot)].next
    free[kind].count -= 1
    free[kind].least = min(free[kind].least, free[kind].count)
    return slot
  }

  private mutating func grow(_ kind: Int) -> Slot {
    let size = 1 << (kind + Self.smallestShift)
    heldBytes += size
    let buffer = Buffer(bytes: [UInt8](repeating: 0, count: size))
    if let slot = emptySlots.popLast() {
      buffers[Int(slot)] = buffer
      return slot
    }
    buffers.append(buffer)
    return Slot(buffers.count - 1)
  }

  /// Copies `bytes` to `offset` of a buffer.
  mutating func write(_ bytes: Span<UInt8>, to slot: Slot, at offset: Int) {
    var whole = buffers[Int(slot)].bytes.mutableSpan
    var part = whole._mutatingExtracting(offset..<offset + bytes.count)
    for index in 0..<bytes.count { part[index] = bytes[index] }
  }

  /// A buffer with a copy of `bytes`.
  mutating func store(_ bytes: Span<UInt8>) -> Slot {
    let slot = allocate(bytes.count)
    write(bytes, to: slot, at: 0)
    return slot
  }

  /// Takes a buffer back.
  mutating func release(_ slot: Slot) {
    let size = buffers[Int(slot)].bytes.count
    let kind = Self.kind(of: size)
    usedBytes -= size
    buffers[Int(slot)].next = free[kind].first
    free[kind].first = slot
    free[kind].count += 1
  }

  /// Gives back the buffers that nobody needed since the last time.
  mutating func trim() {
    for kind in 0..<Self.classCount {
      for _ in 0..<max(0, free[kind].least - Self.spare(kind)) {
        guard let slot = popFree(kind) else { break }
        heldBytes -= buffers[Int(slot)].bytes.count
        buffers[Int(slot)].bytes = []
        emptySlots.append(slot)
      }
      free[kind].least = free[kind].count
    }
  }
}
