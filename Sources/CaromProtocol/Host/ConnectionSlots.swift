/// The connections of a host, each in a slot that it keeps until it is removed.
///
/// The low bits of the number of a connection's id lead to its slot, so no search is needed. The
/// slots are stored in chunks, so adding a connection does not move the others.
///
/// A stream that a peer opens is a connection of its own until it names the connection that it
/// belongs to, usually one over datagrams. Connections that begin with a stream therefore have
/// chunks of their own, whose memory is free again soon after many peers have connected at once.
struct ConnectionSlots: Sendable {
  private static let chunkShift = 4
  private static let chunkSize = 1 << chunkShift

  /// How a connection begins.
  private enum Kind: Int {
    case datagrams, stream
  }

  /// What a chunk is used for.
  private struct Use {
    /// The kind of its connections.
    var kind: Kind
    /// The number of its connections.
    var count = 0
    /// Whether the chunk is in `emptied`.
    var isListed = false
  }

  /// Where the next connection of a kind is stored.
  private struct Room {
    /// The vacant slots.
    var vacant: [Int] = []
    /// The chunk that has room after its last slot; nil if there is none.
    var growing: Int?
  }

  private(set) var chunks: [[Host.Entry]] = []
  private var uses: [Use] = []
  /// The chunks whose last connection was removed. Some may have connections again.
  private var emptied: [Int] = []
  /// The chunks without memory.
  private var freed: [Int] = []
  /// The room for each kind.
  private var rooms = [Room(), Room()]
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
    let kind = entry.connection.hasStream ? Kind.stream : .datagrams
    if let slot = rooms[kind.rawValue].vacant.popLast() {
      self[slot] = entry
      uses[slot >> Self.chunkShift].count += 1
      return slot
    }
    let chunk = rooms[kind.rawValue].growing ?? makeChunk(for: kind)
    let place = chunks[chunk].count
    chunks[chunk].append(entry)
    uses[chunk].count += 1
    rooms[kind.rawValue].growing = place + 1 < Self.chunkSize ? chunk : nil
    return chunk << Self.chunkShift + place
  }

  /// Returns a chunk with memory for connections of a kind.
  private mutating func makeChunk(for kind: Kind) -> Int {
    let chunk = freed.popLast() ?? chunks.count
    if chunk == chunks.count {
      chunks.append([])
      uses.append(Use(kind: kind))
    }
    chunks[chunk].reserveCapacity(Self.chunkSize)
    uses[chunk].kind = kind
    return chunk
  }

  private mutating func vacate(_ slot: Int) {
    let chunk = slot >> Self.chunkShift
    uses[chunk].count -= 1
    rooms[uses[chunk].kind.rawValue].vacant.append(slot)
    guard uses[chunk].count == 0, !uses[chunk].isListed else { return }
    uses[chunk].isListed = true
    emptied.append(chunk)
  }

  /// Frees the memory of the chunks that have no connections left. Removing a connection does not,
  /// because its owner may still look at the slot.
  mutating func freeEmptyChunks() {
    guard !emptied.isEmpty else { return }
    for chunk in emptied {
      uses[chunk].isListed = false
      guard uses[chunk].count == 0 else { continue }
      let kind = uses[chunk].kind.rawValue
      chunks[chunk] = []
      freed.append(chunk)
      rooms[kind].vacant.removeAll { $0 >> Self.chunkShift == chunk }
      if rooms[kind].growing == chunk { rooms[kind].growing = nil }
    }
    emptied.removeAll()
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
    ids.remove(at: insertionIndex(of: entry.id))
    vacate(slot)
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
