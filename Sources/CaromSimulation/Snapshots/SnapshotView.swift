/// Everything that a client knows of entities once it has read one snapshot: both ends keep the
/// same views, and foretell the next snapshot from one of them.
///
/// Words lie as `EntityRecord` has them, records in the order of ids.
struct SnapshotView: Sendable {
  /// The tick of the snapshot.
  var tick = Tick.zero
  /// The view that it was foretold from; `nil` where it was sent in full.
  var base: Tick?
  /// Whether the snapshot held back something that had changed.
  var isPartial = false
  /// How many entities there are.
  var count = 0
  /// At least `count` records.
  var words: [Int64] = []

  /// Forgets the entities and makes room for others.
  mutating func clear(room: Int, stride: Int) {
    count = 0
    let wanted = room * stride
    guard words.count < wanted else { return }
    // Twice as many, so that a view that grows by one and one seldom needs memory.
    let enough = 2 * wanted
    words.append(contentsOf: repeatElement(0, count: enough - words.count))
  }

  /// The id of the record at `index`.
  @inline(__always) func id(_ index: Int, _ stride: Int) -> UInt32 {
    EntityRecord.id(words[index * stride])
  }

  /// Whether it knows an entity.
  func holds(_ id: UInt32, _ stride: Int) -> Bool {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self.id(middle, stride) < id { low = middle + 1 } else { high = middle }
    }
    return low < count && self.id(low, stride) == id
  }

  /// Appends a record of another view.
  @inline(__always) mutating func append(_ other: SnapshotView, _ index: Int, _ stride: Int) {
    let from = index * stride
    let to = count * stride
    for word in 0..<stride { words[to + word] = other.words[from + word] }
    count += 1
  }

  /// Becomes `older` with all that the snapshot of `named` brought and `older` knows no newer of.
  mutating func merge(_ older: SnapshotView, _ named: SnapshotView, _ stride: Int) {
    clear(room: older.count + named.count, stride: stride)
    tick = older.tick
    base = older.base
    isPartial = older.isPartial
    let fresh = Int64(bitPattern: named.tick.rawValue)
    var index = 0
    for other in 0..<named.count {
      guard named.words[other * stride + EntityRecord.tickWord] == fresh else { continue }
      let id = named.id(other, stride)
      while index < older.count, older.id(index, stride) < id {
        append(older, index, stride)
        index += 1
      }
      guard index < older.count, older.id(index, stride) == id else {
        append(named, other, stride)
        continue
      }
      let known = older.words[index * stride + EntityRecord.tickWord]
      if known < fresh { append(named, other, stride) } else { append(older, index, stride) }
      index += 1
    }
    while index < older.count {
      append(older, index, stride)
      index += 1
    }
  }
}
