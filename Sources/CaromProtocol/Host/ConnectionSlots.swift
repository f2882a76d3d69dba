/// The connections of a host, each in a slot that it keeps until it is removed.
///
/// The low bits of the number of a connection's id lead to its slot, so no search is needed. The
/// slots are stored in chunks, so adding a connection does not move the others.
struct ConnectionSlots: Sendable {
  private static let chunkShift = 4
  private static let chunkSize = 1 << chunkShift

  private var chunks: [[Host.Entry]] = []
  /// The vacant slots.
  private var vacant: [Int] = []
  /// The slot of each connection, at the index that is the low bits of the number of the
  /// connection's id; -1 at all other indices. The length is a power of two, and no two connections
  /// have the same low bits.
  private var table = [Int32](repeating: -1, count: 64)
  /// The ids of all connections, in ascending order.
  private(set) var ids: [ConnectionID] = []

  var count: Int { ids.count }

  // Not `_read`: if the property of the connection that is read is computed, the unoptimized code
  // of Swift 6.3 releases the connection a second time, after the entry is gone.
  subscript(slot: Int) -> Host.Entry {
    get { chunks[slot >> Self.chunkShift][slot & (Self.chunkSize - 1)] }
    _modify { yield &chunks[slot >> Self.chunkShift][slot & (Self.chunkSize - 1)] }
  }

  @inline(__always) private func place(of id: ConnectionID) -> Int {
    Int(truncatingIfNeeded: id.number) & (table.count &- 1)
  }

  /// Returns the slot of a connection, or nil if there is no connection with this id.
  @inline(__always) func slot(of id: ConnectionID) -> Int? {
    let slot = Int(table[place(of: id)])
    return slot >= 0 && self[slot].id == id ? slot : nil
  }

  /// Returns whether a connection with this id can be inserted without moving others in the table.
  func hasPlace(for id: ConnectionID) -> Bool { table[place(of: id)] < 0 }

  /// Inserts a connection and returns its slot.
  mutating func insert(_ entry: Host.Entry) -> Int {
    let index = insertionIndex(of: entry.id)
    precondition(
      index == ids.count || ids[index] != entry.id,
      "a connection can be added once only; use an id from makeConnectionID()")
    ids.insert(entry.id, at: index)
    while 2 * ids.count > table.count || !hasPlace(for: entry.id) { growTable() }
    let slot = store(entry)
    table[place(of: entry.id)] = Int32(slot)
    return slot
  }

  private mutating func store(_ entry: Host.Entry) -> Int {
    if let slot = vacant.popLast() {
      self[slot] = entry
      return slot
    }
    if chunks.last?.count ?? Self.chunkSize == Self.chunkSize {
      chunks.append([])
      chunks[chunks.count - 1].reserveCapacity(Self.chunkSize)
    }
    chunks[chunks.count - 1].append(entry)
    return (chunks.count - 1) << Self.chunkShift + chunks[chunks.count - 1].count - 1
  }

  private mutating func growTable() {
    let old = table
    table = Array(repeating: -1, count: 2 * old.count)
    for slot in old where slot >= 0 { table[place(of: self[Int(slot)].id)] = slot }
  }

  /// Removes and returns the connection in a slot. `vacancy` takes its place.
  mutating func remove(_ slot: Int, leaving vacancy: Host.Entry) -> Host.Entry {
    var entry = vacancy
    swap(&entry, &self[slot])
    table[place(of: entry.id)] = -1
    vacant.append(slot)
    ids.remove(at: insertionIndex(of: entry.id))
    return entry
  }

  /// Returns the index of the first of `ids` that is not less than `id`.
  private func insertionIndex(of id: ConnectionID) -> Int {
    guard let last = ids.last, last >= id else { return ids.count }
    var (low, high) = (0, ids.count)
    while low < high {
      let middle = (low + high) / 2
      if ids[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
