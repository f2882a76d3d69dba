/// The acknowledged and lost byte ranges of each fragmented reliable message, kept by its sender.
struct FragmentTable: Sendable {
  struct Progress: Sendable {
    var acknowledged = ByteRanges()
    var lost = ByteRanges()
    /// The number of acknowledged bytes.
    var acknowledgedBytes = 0
  }

  private var table: [Progress] = []
  private var free: [Int32] = []

  subscript(index: Int32) -> Progress { table[Int(index)] }

  /// Returns the first range of lost bytes that must be retransmitted, or `nil` if there is none.
  func firstLost(_ index: Int32) -> ByteRanges.ByteRange? { table[Int(index)].lost.first }

  /// Records that the lost bytes `start..<end` were retransmitted.
  mutating func recordResent(_ index: Int32, _ start: UInt32, _ end: UInt32) {
    table[Int(index)].lost.remove(start, end)
  }

  /// Reserves an entry for a message and returns its index.
  mutating func allocate() -> Int32 {
    if let index = free.popLast() { return index }
    table.append(Progress())
    return Int32(table.count - 1)
  }

  /// Clears an entry and makes it available again.
  mutating func release(_ index: Int32) {
    table[Int(index)].acknowledged.removeAll()
    table[Int(index)].lost.removeAll()
    table[Int(index)].acknowledgedBytes = 0
    free.append(index)
  }

  /// Records that the bytes `start..<end` are acknowledged.
  mutating func recordAcknowledged(_ index: Int32, _ start: UInt32, _ end: UInt32) {
    table[Int(index)].acknowledgedBytes += table[Int(index)].acknowledged.insert(start, end)
    table[Int(index)].lost.remove(start, end)
  }

  /// Records the loss of all bytes in `start..<end` that are not acknowledged.
  mutating func recordLost(_ index: Int32, _ start: UInt32, _ end: UInt32) {
    var from = start
    for range in table[Int(index)].acknowledged.ranges where range.end > from {
      guard range.start < end else { break }
      if range.start > from { table[Int(index)].lost.insert(from, range.start) }
      from = range.end
    }
    if from < end { table[Int(index)].lost.insert(from, end) }
  }
}
