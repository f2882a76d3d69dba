import CaromCore

/// A pool of message buffers whose sizes are powers of two. A message is copied into a buffer once,
/// and freed buffers are reused, so that no memory is allocated in the steady state.
struct MessageArena: Sendable {
  /// The index of a buffer; `none` means no buffer.
  typealias Slot = Int32
  static let none: Slot = -1
  /// The binary logarithm of the smallest buffer size, 64 bytes. Each size class is twice the
  /// previous one.
  private static let smallestShift = 6
  private static let classCount = 15
  /// Returns the number of unused buffers of a size class that `trim` keeps: three up to 256 bytes,
  /// one up to 2 KiB. An occasional peak, such as a ping sent along with a game's messages, then
  /// needs no allocation.
  private static func spare(_ kind: Int) -> Int32 { kind < 3 ? 3 : kind < 6 ? 1 : 0 }

  struct Buffer: Sendable {
    var bytes: [UInt8]
    /// The next buffer in the free list of its size class.
    fileprivate var next = none
  }

  /// The free buffers of one size class, as a linked list.
  private struct Free: Sendable {
    var first = none
    var count: Int32 = 0
    /// The lowest `count` since the previous call to `trim`.
    var least: Int32 = 0
  }

  /// The total size of all buffers, free ones included, in bytes.
  private(set) var heldBytes = 0
  private var emptySlots: [Slot] = []
  /// The total size of the buffers in use, in bytes.
  private(set) var usedBytes = 0
  /// All buffers, indexed by slot. Read a buffer in place, without copying it.
  private(set) var buffers: [Buffer] = []
  /// It comes last because it is long, and most connections use only its first elements.
  private var free = InlineArray<15, Free>(repeating: Free())

  private static func kind(of count: Int) -> Int {
    max(0, Int.bitWidth - (max(count, 1) - 1).leadingZeroBitCount - smallestShift)
  }

  /// Returns a newly allocated buffer of at least `count` bytes with arbitrary contents.
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

  /// Copies `bytes` into a buffer, starting at `offset`.
  mutating func write(_ bytes: Span<UInt8>, to slot: Slot, at offset: Int) {
    var whole = buffers[Int(slot)].bytes.mutableSpan
    var part = whole._mutatingExtracting(offset..<offset + bytes.count)
    for index in 0..<bytes.count { part[index] = bytes[index] }
  }

  /// Passes the first `count` bytes of a buffer to `body`, without copying them.
  @inline(__always)
  func withBytes<Result>(
    of slot: Slot, count: Int, _ body: (Span<UInt8>) -> Result
  ) -> Result {
    let bytes = buffers[Int(slot)].bytes
    return body(bytes.span.extracting(0..<count))
  }

  /// Returns a newly allocated buffer with a copy of `bytes`.
  mutating func store(_ bytes: Span<UInt8>) -> Slot {
    let slot = allocate(bytes.count)
    write(bytes, to: slot, at: 0)
    return slot
  }

  /// Returns a buffer to the pool.
  mutating func release(_ slot: Slot) {
    let size = buffers[Int(slot)].bytes.count
    let kind = Self.kind(of: size)
    usedBytes -= size
    buffers[Int(slot)].next = free[kind].first
    free[kind].first = slot
    free[kind].count += 1
  }

  /// Frees the buffers that have not been needed since the previous call, except for a few spares.
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
