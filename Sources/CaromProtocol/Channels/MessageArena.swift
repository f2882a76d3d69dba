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

  private struct Buffer: Sendable {
    var bytes: [UInt8] = []
    /// The next buffer in the free list of its size class.
    var next = none
    /// The size class.
    var kind: UInt8 = 0
  }

  /// The number of slots that are stored in place, so that the messages of a game touch no other
  /// memory than their own.
  private static let inPlace: Slot = 2

  /// The free buffers of one size class, as a linked list.
  private struct Free: Sendable {
    var first = none
    var count: Int32 = 0
    /// The lowest `count` since the previous call to `trim`.
    var least: Int32 = 0

    /// Removes the first buffer. `next` is the one behind it.
    mutating func pop(leaving next: Slot) {
      first = next
      count -= 1
      least = min(least, count)
    }
  }

  // What every packet needs comes last.
  /// The total size of all buffers, free ones included, in bytes.
  private(set) var heldBytes = 0
  private var emptySlots: [Slot] = []
  /// The buffers in all slots but the first.
  private var others: [Buffer] = []
  /// The free buffers of each size class, in the order of `place(of:)`.
  private var free = InlineArray<15, Free>(repeating: Free())
  /// The number of elements of `first` that are slots.
  private var firstCount: Slot = 0
  /// The buffers in the first slots.
  private var first = InlineArray<2, Buffer>(repeating: Buffer())
  /// The total size of the buffers in use, in bytes.
  private(set) var usedBytes = 0

  /// The number of slots, empty ones included.
  var count: Int { Int(firstCount) + others.count }

  private static func kind(of count: Int) -> Int {
    max(0, Int.bitWidth - (max(count, 1) - 1).leadingZeroBitCount - smallestShift)
  }

  /// Returns a newly allocated buffer of at least `count` bytes with arbitrary contents.
  mutating func allocate(_ count: Int) -> Slot {
    precondition(count <= ChannelLimits.messageLength, "a message is at most 1 MiB")
    let kind = Self.kind(of: count)
    usedBytes += Self.size(kind)
    return popFree(kind) ?? grow(kind)
  }

  private mutating func popFree(_ kind: Int) -> Slot? {
    let slot = free[place(of: kind)].first
    guard slot != Self.none else { return nil }
    let next = isInPlace(slot) ? first[Int(slot)].next : others[index(of: slot)].next
    free[place(of: kind)].pop(leaving: next)
    return slot
  }

  private mutating func grow(_ kind: Int) -> Slot {
    let size = Self.size(kind)
    heldBytes += size
    let buffer = Buffer(bytes: [UInt8](repeating: 0, count: size), kind: UInt8(kind))
    if let slot = emptySlots.popLast() {
      replace(slot, with: buffer)
      return slot
    }
    // The smallest buffers are mostly those of the session's own messages, which are few.
    guard kind > 0, firstCount < Self.inPlace else {
      others.append(buffer)
      return Slot(others.count - 1) + Self.inPlace
    }
    first[Int(firstCount)] = buffer
    firstCount += 1
    return firstCount - 1
  }

  private mutating func replace(_ slot: Slot, with buffer: Buffer) {
    if isInPlace(slot) { first[Int(slot)] = buffer } else { others[index(of: slot)] = buffer }
  }

  /// Returns the index in `free` of a size class. The largest class comes first, so that the
  /// smallest ones, which games use, are adjacent to what every packet needs.
  @inline(__always) private func place(of kind: Int) -> Int { Self.classCount - 1 - kind }

  /// Returns the size in bytes of the buffers of a size class.
  @inline(__always) private static func size(_ kind: Int) -> Int { 1 << (kind + smallestShift) }

  @inline(__always) private func isInPlace(_ slot: Slot) -> Bool { slot < Self.inPlace }

  /// Returns the index in `others` of a slot that is not in place.
  @inline(__always) private func index(of slot: Slot) -> Int { Int(slot - Self.inPlace) }

  /// The buffer in a slot. Only its beginning belongs to the message. Read the buffer in place,
  /// without copying it.
  subscript(slot: Slot) -> [UInt8] {
    @inline(__always) get {
      isInPlace(slot) ? first[Int(slot)].bytes : others[index(of: slot)].bytes
    }
  }

  /// Copies `bytes` into a buffer, starting at `offset`.
  mutating func write(_ bytes: Span<UInt8>, to slot: Slot, at offset: Int) {
    if isInPlace(slot) {
      Self.copy(bytes, to: &first[Int(slot)].bytes, at: offset)
    } else {
      Self.copy(bytes, to: &others[index(of: slot)].bytes, at: offset)
    }
  }

  @inline(__always)
  private static func copy(_ bytes: Span<UInt8>, to buffer: inout [UInt8], at offset: Int) {
    var whole = buffer.mutableSpan
    var part = whole._mutatingExtracting(offset..<offset + bytes.count)
    for index in 0..<bytes.count { part[index] = bytes[index] }
  }

  /// Passes the first `count` bytes of a buffer to `body`, without copying them.
  @inline(__always)
  func withBytes<Result>(
    of slot: Slot, count: Int, _ body: (Span<UInt8>) -> Result
  ) -> Result {
    // Unlike an element of an array, a buffer in place is not retained for the call, which would
    // take two atomic operations.
    guard !isInPlace(slot) else {
      return body(first[Int(slot)].bytes.span.extracting(0..<count))
    }
    let bytes = others[index(of: slot)].bytes
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
    let kind = Int(isInPlace(slot) ? first[Int(slot)].kind : others[index(of: slot)].kind)
    usedBytes -= Self.size(kind)
    let next = free[place(of: kind)].first
    if isInPlace(slot) { first[Int(slot)].next = next } else { others[index(of: slot)].next = next }
    free[place(of: kind)].first = slot
    free[place(of: kind)].count += 1
  }

  /// Frees the buffers that have not been needed since the previous call, except for a few spares.
  mutating func trim() {
    for kind in 0..<Self.classCount {
      for _ in 0..<max(0, free[place(of: kind)].least - Self.spare(kind)) {
        guard let slot = popFree(kind) else { break }
        heldBytes -= Self.size(kind)
        replace(slot, with: Buffer())
        emptySlots.append(slot)
      }
      free[place(of: kind)].least = free[place(of: kind)].count
    }
  }
}
