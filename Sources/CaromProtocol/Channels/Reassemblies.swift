import CaromCore

/// The received messages that are under reassembly because some of their fragments are missing.
struct Reassemblies: Sendable {
  struct Assembly: Sendable {
    var buffer = MessageArena.none
    /// The length of the whole message, in bytes.
    var total = 0
    /// The number of bytes of the message received so far.
    var bytes = 0
    var received = ByteRanges()

    var isComplete: Bool { bytes == total }
  }

  private var table: [Assembly] = []
  private var free: [Int32] = []
  /// The sum of `total` over the reassemblies that need credit.
  private(set) var reliableBytes = 0

  subscript(index: Int32) -> Assembly { table[Int(index)] }

  /// Begins the reassembly of a message of `total` bytes and returns its index.
  mutating func begin(
    _ total: Int, needsCredit: Bool, arena: inout MessageArena
  ) throws(DecodeError) -> Int32 {
    if needsCredit {
      guard reliableBytes + total <= ChannelLimits.reassemblyBytes else {
        throw .tooLarge(
          length: UInt64(reliableBytes + total), limit: UInt64(ChannelLimits.reassemblyBytes))
      }
      reliableBytes += total
    }
    let index: Int32
    if let last = free.popLast() {
      index = last
    } else {
      table.append(Assembly())
      index = Int32(table.count - 1)
    }
    table[Int(index)].buffer = arena.allocate(total)
    table[Int(index)].total = total
    return index
  }

  /// Adds a fragment and returns how many of its bytes had not been received before.
  mutating func add(
    _ bytes: Span<UInt8>, at offset: Int, to index: Int32, arena: inout MessageArena
  ) throws(DecodeError) -> Int {
    let entry = Int(index)
    let new = table[entry].received.insert(UInt32(offset), UInt32(offset + bytes.count))
    guard table[entry].received.count <= ChannelLimits.reassemblyRanges else {
      // The fragment has added a range that touches no other, so that removing the range restores
      // the set. The fragment's bytes are not stored, and must not count as received.
      table[entry].received.remove(UInt32(offset), UInt32(offset + bytes.count))
      throw .invalid(what: "fragment: too many gaps")
    }
    guard new > 0 else { return 0 }
    arena.write(bytes, to: table[entry].buffer, at: offset)
    table[entry].bytes += new
    return new
  }

  /// Ends a reassembly, complete or not, and returns its buffer, which must be released later.
  mutating func finish(_ index: Int32, needsCredit: Bool) -> MessageArena.Slot {
    let entry = Int(index)
    if needsCredit { reliableBytes -= table[entry].total }
    let buffer = table[entry].buffer
    table[entry].received.removeAll()
    table[entry].buffer = MessageArena.none
    table[entry].bytes = 0
    table[entry].total = 0
    free.append(index)
    return buffer
  }
}
