import CaromCore

/// What others on the links have said, for as long as they allow; bounded for each interface,
/// each sender and each name, so that junk takes no room from what is wanted.
package struct RecordCache: Sendable {
  /// Records that an interface may bring.
  package static let capacity = 4096
  /// And bytes; names count twice, since they are kept folded too.
  package static let byteCapacity = 2 << 20
  /// What one sender may fill of either: a quarter.
  package static let sourceShare = 4
  /// PTR records under one name: half of all, for a type with very many services.
  package static let pointerCapacity = 2048
  /// Records of any other type under one name; hosts have a few addresses.
  package static let setCapacity = 64
  /// Bytes that a record costs beside its names and data.
  package static let overhead = 256
  /// A flushed or withdrawn record lives that long (RFC 6762 §10.1, §10.2).
  static let grace = Duration.seconds(1)

  /// Where a record stands: under which name and type, heard on which interface.
  package struct Place: Hashable, Sendable {
    package var interface: UInt32
    package var key: RecordKey

    /// The records of `key` that were heard on `interface`.
    package init(interface: UInt32, key: RecordKey) {
      self.interface = interface
      self.key = key
    }
  }

  /// A record and what is known of it.
  package struct Entry: Sendable {
    package var record: Record
    package var received: Instant
    package var expires: Instant
    var serial: UInt64
    var refreshes: UInt8 = 0
    /// Whether it was withdrawn, replaced or doubted, and lives its last seconds.
    var isLeaving = false
    /// Per mille of the time to live by which refreshes are put off, 0 to 10.
    var jitter: UInt8
    /// Since when questions that it would answer stayed unanswered, and whether several did.
    var silence: (since: Instant, isRepeated: Bool)?
  }

  /// What became of a record that came in.
  package enum Insertion: Sendable { case new, known, refused }

  /// What time brings.
  package enum Event: Sendable {
    case expired(Place, Record)
    case refresh(Place)
  }

  struct Slot: Sendable {
    var entry: Entry
    let place: Place
    let source: Source
    let cost: Int
    var previous: Int?
    var next: Int?
  }

  /// The records of one place, as a list through their slots, the last heard at the end.
  struct Row: Sendable {
    var first: Int?
    var last: Int?
    var count = 0
    /// The first one that no cache-flush bit concerned yet.
    var unflushed: Int?
  }

  struct Sighting: Hashable, Sendable {
    var interface: UInt32
    var identity: Record.Identity
  }

  struct Source: Hashable, Sendable {
    var interface: UInt32
    var address: IPAddress
  }

  struct Timer: Sendable {
    var id: Int
    var serial: UInt64
  }

  /// The records, each in its place for as long as it is here, and the places that are free.
  var slots: [Slot?] = []
  private var free: [Int] = []
  var rows: [Place: Row] = [:]
  var ids: [Sighting: Int] = [:]
  var interfaces: [UInt32: Usage] = [:]
  var sources: [Source: Usage] = [:]
  var timers = DeadlineQueue<Timer>()
  private var nextSerial: UInt64 = 0
  /// What lost its place since it was last taken.
  var evicted: [(Place, Record)] = []

  package init() {}

  /// How many records it holds.
  package var count: Int { slots.count - free.count }

  /// How many bytes they count as.
  package var byteCount: Int { interfaces.values.reduce(0) { $0 + $1.bytes } }

  /// How many timers it keeps for them; some are stale.
  package var timerCount: Int { timers.count }

  /// How many senders and names it keeps account of.
  package var tableCounts: (sources: Int, rows: Int, ids: Int) {
    (sources.count, rows.count, ids.count)
  }

  /// The live records at `place`, the last heard at the end.
  package func entries(at place: Place) -> [Entry] {
    var list: [Entry] = []
    var id = rows[place]?.first
    while let next = id, let slot = slots[next] {
      list.append(slot.entry)
      id = slot.next
    }
    return list
  }

  /// The records at `place` that were not withdrawn or replaced, the last heard at the end.
  package func current(at place: Place) -> [Entry] {
    entries(at: place).filter { !$0.isLeaving }
  }

  /// The data at `place` that was heard last.
  func newest(at place: Place) -> RecordData? {
    var id = rows[place]?.last
    while let next = id, let slot = slots[next] {
      guard slot.entry.isLeaving else { return slot.entry.record.data }
      id = slot.previous
    }
    return nil
  }

  /// The places on an interface that have records under a name: a search through all.
  func places(of name: Name, on interface: UInt32) -> [Place] {
    rows.keys.filter { $0.interface == interface && $0.key.name == name }
      .sorted { $0.key.type < $1.key.type }
  }

  /// What lost its place to other records since this was last called.
  package mutating func takeEvicted() -> [(Place, Record)] {
    guard !evicted.isEmpty else { return [] }
    defer { evicted = [] }
    return evicted
  }

  /// The records on an interface, the first heard first: a search through all.
  func ids(on interface: UInt32) -> [Int] {
    slots.indices.filter { slots[$0]?.place.interface == interface }
      .sorted { (slots[$0]?.entry.serial ?? 0) < (slots[$1]?.entry.serial ?? 0) }
  }

  mutating func makeSerial() -> UInt64 {
    defer { nextSerial += 1 }
    return nextSerial
  }
}

// MARK: - Taking in

extension RecordCache {
  /// Takes a record in. `isWanted` says which keys answer an open question: they are kept when
  /// room runs out. What had to go for it is in `takeEvicted`.
  package mutating func insert(
    _ record: Record, from source: IPAddress, on interface: UInt32, at now: Instant,
    jitter: UInt8, isWanted: (RecordKey) -> Bool
  ) -> Insertion {
    let place = Place(interface: interface, key: record.key)
    let sighting = Sighting(interface: interface, identity: record.identity)
    defer { if record.flushesCache, record.timeToLive > 0 { flush(place, at: now) } }
    if let id = ids[sighting] {
      if record.timeToLive == 0 {
        shorten(id, to: Self.grace, at: now)
      } else {
        renew(id, with: record, at: now, jitter: jitter)
      }
      return .known
    }
    let newcomer = Newcomer(
      place: place, source: Source(interface: interface, address: source.scoped(to: 0)),
      cost: Self.cost(of: record))
    guard record.timeToLive > 0, makeRoom(for: newcomer, at: now, isWanted) else {
      return .refused
    }
    add(record, sighting, newcomer, at: now, jitter: jitter)
    return .new
  }

  private mutating func add(
    _ record: Record, _ sighting: Sighting, _ newcomer: Newcomer, at now: Instant, jitter: UInt8
  ) {
    var entry = Entry(
      record: record, received: now, expires: Self.end(of: record, heard: now),
      serial: makeSerial(), jitter: jitter)
    if let first = rows[newcomer.place]?.first, let name = slots[first]?.entry.record.name,
      name.wire == record.name.wire
    {
      // One copy of the name for all.
      entry.record.name = name
    }
    let id = free.popLast() ?? slots.count
    if id == slots.count { slots.append(nil) }
    slots[id] = Slot(
      entry: entry, place: newcomer.place, source: newcomer.source, cost: newcomer.cost)
    ids[sighting] = id
    interfaces[sighting.interface, default: Usage()].add(newcomer.cost)
    sources[newcomer.source, default: Usage()].add(newcomer.cost)
    link(id, at: newcomer.place)
    schedule(id)
  }

  private mutating func renew(
    _ id: Int, with record: Record, at now: Instant, jitter: UInt8
  ) {
    guard let place = slots[id]?.place, var entry = slots[id]?.entry else { return }
    entry.record.timeToLive = record.timeToLive
    entry.record.flushesCache = record.flushesCache
    entry.received = now
    entry.expires = Self.end(of: record, heard: now)
    entry.serial = makeSerial()
    entry.refreshes = 0
    entry.isLeaving = false
    entry.jitter = jitter
    entry.silence = nil
    slots[id]?.entry = entry
    unlink(id, at: place)
    link(id, at: place)
    schedule(id)
  }

  private static func end(of record: Record, heard now: Instant) -> Instant {
    now.advanced(by: .seconds(Int64(min(record.timeToLive, TimeToLive.ceiling))))
  }

  /// Records under the name and type that are older than a second go in a second (RFC 6762
  /// §10.2). Each record is looked at once: they stand in the order in which they were heard.
  private mutating func flush(_ place: Place, at now: Instant) {
    while let id = rows[place]?.unflushed, let slot = slots[id],
      slot.entry.received.advanced(by: Self.grace) < now
    {
      shorten(id, to: Self.grace, at: now)
      rows[place]?.unflushed = slot.next
    }
  }

  private mutating func link(_ id: Int, at place: Place) {
    var row = rows[place] ?? Row()
    slots[id]?.previous = row.last
    slots[id]?.next = nil
    if let last = row.last { slots[last]?.next = id } else { row.first = id }
    row.last = id
    row.count += 1
    row.unflushed = row.unflushed ?? id
    rows[place] = row
  }

  private mutating func unlink(_ id: Int, at place: Place) {
    guard let slot = slots[id], var row = rows[place] else { return }
    if let previous = slot.previous {
      slots[previous]?.next = slot.next
    } else {
      row.first = slot.next
    }
    if let next = slot.next {
      slots[next]?.previous = slot.previous
    } else {
      row.last = slot.previous
    }
    if row.unflushed == id { row.unflushed = slot.next }
    row.count -= 1
    rows[place] = row.count == 0 ? nil : row
  }

  /// Forgets a record.
  mutating func remove(_ id: Int) -> Slot? {
    guard let slot = slots[id] else { return nil }
    unlink(id, at: slot.place)
    slots[id] = nil
    free.append(id)
    ids[Sighting(interface: slot.place.interface, identity: slot.entry.record.identity)] = nil
    interfaces[slot.place.interface]?.remove(slot.cost)
    sources[slot.source]?.remove(slot.cost)
    if interfaces[slot.place.interface]?.count == 0 { interfaces[slot.place.interface] = nil }
    if sources[slot.source]?.count == 0 { sources[slot.source] = nil }
    return slot
  }
}

/// A record as the cache holds it.
package struct CachedRecord: Hashable, Sendable {
  /// What was heard.
  package var record: Record
  /// The interface that it was heard on.
  package var interface: UInt32
  /// How long it is still kept.
  package var timeLeft: Duration
}
