/// A client's knowledge of all entities after one particular snapshot. Both ends store the same
/// views, and each snapshot is encoded as a difference from one of them.
///
/// The records are laid out as `EntityRecord` defines, in ascending order of their ids.
struct SnapshotView: Sendable {
  /// The tick of the snapshot.
  var tick = Tick.zero
  /// The tick of the view on which the snapshot was based, or nil if the snapshot was sent in full.
  var base: Tick?
  /// Whether the snapshot omitted some of the changes since its baseline.
  var isPartial = false
  /// The number of entities.
  var count = 0
  /// The words of the records. The array may be longer than `count` records.
  var words: [Int64] = []

  /// Removes all entities, and makes room for `room` entities with records of `stride` words each.
  mutating func clear(room: Int, stride: Int) {
    count = 0
    let wanted = room * stride
    guard words.count < wanted else { return }
    // The memory is doubled, so that a view that grows slowly seldom reallocates.
    let enough = 2 * wanted
    words.append(contentsOf: repeatElement(0, count: enough - words.count))
  }

  /// Returns the id of the record at `index`.
  @inline(__always) func id(_ index: Int, _ stride: Int) -> UInt32 {
    EntityRecord.id(words[index * stride])
  }

  /// Returns whether the view contains an entity.
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

  /// Sets this view to `older`, updated with the entities whose values in the view `named` are
  /// newer.
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
