/// What became of the pieces of reliable messages that were cut.
struct PieceTable: Sendable {
  struct Progress: Sendable {
    var acknowledged = ByteRanges()
    var lost = ByteRanges()
    /// How many bytes are acknowledged.
    var bytes = 0
  }

  private var table: [Progress] = []
  private var free: [Int32] = []

  subscript(index: Int32) -> Progress { table[Int(index)] }

  /// The first bytes that are to be sent again.
  func firstLost(_ index: Int32) -> ByteRanges.Piece? { table[Int(index)].lost.first }

  /// Notes that `start..<end` has been sent again.
  mutating func sendAgain(_ index: Int32, _ start: UInt32, _ end: UInt32) {
    table[Int(index)].lost.remove(start, end)
  }

  mutating func allocate() -> Int32 {
    if let index = free.popLast() { return index }
    table.append(Progress())
    return Int32(table.count - 1)
  }

  mutating func release(_ index: Int32) {
    table[Int(index)].acknowledged.removeAll()
    table[Int(index)].lost.removeAll()
    table[Int(index)].bytes = 0
    free.append(index)
  }

  /// Notes that `start..<end` is acknowledged.
  mutating func acknowledge(_ index: Int32, _ start: UInt32, _ end: UInt32) {
    table[Int(index)].bytes += table[Int(index)].acknowledged.insert(start, end)
    table[Int(index)].lost.remove(start, end)
  }

  /// Notes that `start..<end` is lost, but for what is acknowledged of it.
  mutating func lose(_ index: Int32, _ start: UInt32, _ end: UInt32) {
    var from = start
    for piece in table[Int(index)].acknowledged.pieces where piece.end > from {
      guard piece.start < end else { break }
      if piece.start > from { table[Int(index)].lost.insert(from, piece.start) }
      from = piece.end
    }
    if from < end { table[Int(index)].lost.insert(from, end) }
  }
}
