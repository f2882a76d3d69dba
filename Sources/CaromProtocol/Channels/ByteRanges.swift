/// Which bytes of a message are meant: ranges in order that neither overlap nor touch.
struct ByteRanges: Hashable, Sendable {
  struct Piece: Hashable, Sendable, BitwiseCopyable {
    var start: UInt32
    var end: UInt32
  }

  private(set) var pieces: [Piece] = []

  var isEmpty: Bool { pieces.isEmpty }
  var first: Piece? { pieces.first }
  var count: Int { pieces.count }

  mutating func removeAll() { pieces.removeAll(keepingCapacity: true) }

  /// The first piece that ends at `start` or later.
  private func firstIndex(endingFrom start: UInt32) -> Int {
    if let last = pieces.last, last.end < start { return pieces.count }
    var low = 0
    var high = pieces.count
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle].end < start { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Adds `start..<end`; returns how many of these bytes were new.
  @discardableResult
  mutating func insert(_ start: UInt32, _ end: UInt32) -> Int {
    guard start < end else { return 0 }
    let low = firstIndex(endingFrom: start)
    var high = low
    var known = 0
    var merged = Piece(start: start, end: end)
    while high < pieces.count, pieces[high].start <= end {
      let piece = pieces[high]
      known += Int(min(piece.end, end)) - Int(max(piece.start, start))
      merged = Piece(start: min(merged.start, piece.start), end: max(merged.end, piece.end))
      high += 1
    }
    if high == low + 1 {
      pieces[low] = merged
    } else {
      pieces.replaceSubrange(low..<high, with: CollectionOfOne(merged))
    }
    return Int(end - start) - known
  }

  /// Takes `start..<end` out.
  mutating func remove(_ start: UInt32, _ end: UInt32) {
    guard start < end else { return }
    var index = firstIndex(endingFrom: start)
    while index < pieces.count, pieces[index].start < end {
      let piece = pieces[index]
      guard piece.end > start else {
        index += 1
        continue
      }
      switch (piece.start < start, piece.end > end) {
      case (false, false): pieces.remove(at: index)
      case (false, true):
        pieces[index].start = end
        return
      case (true, false):
        pieces[index].end = start
        index += 1
      case (true, true):
        pieces[index].end = start
        pieces.insert(Piece(start: end, end: piece.end), at: index + 1)
        return
      }
    }
  }
}
