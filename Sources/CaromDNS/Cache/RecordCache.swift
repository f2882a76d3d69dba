import CaromCore

/// The records received from other hosts, stored until their times to live end. The size is bounded
/// for each interface, each sender and each name, so that unwanted records cannot displace wanted
/// ones.
package struct RecordCache: Sendable {
  /// The maximum number of records of one interface.
  package static let capacity = 4096
  /// The maximum size of the records of one interface, in bytes. Names count twice, because a
  /// case-folded copy is stored as well.
  package static let byteCapacity = 2 << 20
  /// An interface's capacity divided by this number is the capacity for one sender: a quarter of
  /// the interface's records and bytes.
  package static let sourceShare = 4
  /// The maximum number of PTR records under one name: half of the capacity, for service types with
  /// very many instances.
  package static let pointerCapacity = 2048
  /// The maximum number of records of any type other than PTR under one name. Hosts have few
  /// addresses.
  package static let setCapacity = 64
  /// The memory, in bytes, that a record is estimated to take in addition to its names and data.
  package static let overhead = 256
  /// The remaining life of a record that was withdrawn by a goodbye record or replaced through the
  /// cache-flush bit (RFC 6762 §10.1, §10.2).
  static let gracePeriod = Duration.seconds(1)

  /// Identifies a record set: a name and a type, on one interface.
  package struct SetKey: Hashable, Sendable {
    package var interface: UInt32
    package var key: RecordKey

    /// Creates the key of the record set with the name and type of `key` on one interface.
    package init(interface: UInt32, key: RecordKey) {
      self.interface = interface
      self.key = key
    }
  }

  /// A cached record and its timers.
  package struct Entry: Sendable {
    package var record: Record
    package var received: Instant
    package var expires: Instant
    var serial: UInt64
    var refreshes: UInt8 = 0
    /// Whether the record was withdrawn, replaced or reconfirmed, and is about to expire.
    var isExpiring = false
    /// The random delay of each refresh, in thousandths of the time to live, from 0 to 10.
    var jitter: UInt8
    /// The time of the first observed query that should have been answered with this record and was
    /// not, and whether a second such query followed. Nil if every such query was answered (RFC
    /// 6762 §10.5).
    var unanswered: (since: Instant, isRepeated: Bool)?
  }

  /// The outcome of `insert`.
  package enum Insertion: Sendable {
    /// The record was added.
    case new
    /// The record was already in the cache.
    case known
    /// The record was in the cache and is about to expire, because the received one is a goodbye.
    case withdrawn
    /// The record was not stored.
    case refused
  }

  /// A refresh or an expiry that `handleTimeout` found to be due.
  package enum Event: Sendable {
    case expired(SetKey, Record)
    case refresh(SetKey)
  }

  struct Slot: Sendable {
    var entry: Entry
    let setKey: SetKey
    let source: Source
    let cost: Int
    var previous: Int?
    var next: Int?
  }

  /// The records of one set, as a doubly linked list of slots, the most recently received last.
  struct RecordSet: Sendable {
    var first: Int?
    var last: Int?
    var count = 0
    /// The slot of the first record to which no cache-flush bit has been applied, or nil if there
    /// is none.
    var unflushed: Int?
  }

  struct EntryKey: Hashable, Sendable {
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

  /// The cached records. Each record keeps its index, its *slot*, until it is removed; the element
  /// at a free index is nil.
  var slots: [Slot?] = []
  private var free: [Int] = []
  var sets: [SetKey: RecordSet] = [:]
  var slotIndices: [EntryKey: Int] = [:]
  var interfaces: [UInt32: Usage] = [:]
  var sources: [Source: Usage] = [:]
  var timers = DeadlineQueue<Timer>()
  private var nextSerial: UInt64 = 0
  /// The records evicted since the previous call to `popEvicted`.
  var evicted: [(SetKey, Record)] = []

  package init() {}

  /// The number of cached records.
  package var count: Int { slots.count - free.count }

  /// The estimated total size of all cached records, in bytes.
  package var byteCount: Int { interfaces.values.reduce(0) { $0 + $1.bytes } }

  /// The number of timers, including stale ones.
  package var timerCount: Int { timers.count }

  /// The number of entries in each internal table: senders, record sets, and records by identity.
  package var tableCounts: (sources: Int, sets: Int, records: Int) {
    (sources.count, sets.count, slotIndices.count)
  }

  /// Returns all records of a set, the most recently received last.
  package func entries(at setKey: SetKey) -> [Entry] {
    var list: [Entry] = []
    var id = sets[setKey]?.first
    while let next = id, let slot = slots[next] {
      list.append(slot.entry)
      id = slot.next
    }
    return list
  }

  /// Returns the records of a set, except those about to expire, the most recently received last.
  package func current(at setKey: SetKey) -> [Entry] {
    entries(at: setKey).filter { !$0.isExpiring }
  }

  /// Returns the data of the newest record in a set that is not about to expire, or nil if there is
  /// no such record.
  func newest(at setKey: SetKey) -> RecordData? {
    var id = sets[setKey]?.last
    while let next = id, let slot = slots[next] {
      guard slot.entry.isExpiring else { return slot.entry.record.data }
      id = slot.previous
    }
    return nil
  }

  /// Returns the keys of all record sets of a name on an interface, sorted by type. Searches the
  /// whole cache.
  func setKeys(of name: Name, on interface: UInt32) -> [SetKey] {
    sets.keys.filter { $0.interface == interface && $0.key.name == name }
      .sorted { $0.key.type < $1.key.type }
  }

  /// Returns the records evicted since the previous call.
  package mutating func popEvicted() -> [(SetKey, Record)] {
    guard !evicted.isEmpty else { return [] }
    defer { evicted = [] }
    return evicted
  }

  /// Returns the slots of all records of an interface, oldest first. Searches the whole cache.
  func ids(on interface: UInt32) -> [Int] {
    slots.indices.filter { slots[$0]?.setKey.interface == interface }
      .sorted { (slots[$0]?.entry.serial ?? 0) < (slots[$1]?.entry.serial ?? 0) }
  }

  mutating func makeSerial() -> UInt64 {
    defer { nextSerial += 1 }
    return nextSerial
  }
}

// MARK: - Storing records

extension RecordCache {
  /// Stores a received record or renews the cached one; a goodbye makes the cached record expire
  /// soon. `isOnLink` tells whether the sender is on the link. A sender outside the link cannot
  /// shorten the life of a cached record: its goodbyes, cache-flush bits and shorter times to live
  /// are ignored, since its address may be forged. `isWanted` returns whether an active question
  /// asks for a key; the records of such keys are kept the longest when space runs out.
  /// `popEvicted` returns the records that were evicted to make room.
  package mutating func insert(
    _ record: Record, from source: IPAddress, isOnLink: Bool = true, on interface: UInt32,
    at now: Instant, jitter: UInt8, isWanted: (RecordKey) -> Bool
  ) -> Insertion {
    guard isOnLink || record.timeToLive > 0 else { return .refused }
    let setKey = SetKey(interface: interface, key: record.key)
    let entryKey = EntryKey(interface: interface, identity: record.identity)
    defer {
      if record.flushesCache, record.timeToLive > 0, isOnLink { flush(setKey, at: now) }
    }
    if let id = slotIndices[entryKey], let entry = slots[id]?.entry {
      if record.timeToLive == 0 {
        shortenLife(id, to: Self.gracePeriod, at: now)
        return entry.isExpiring ? .known : .withdrawn
      }
      if isOnLink || Self.end(of: record, received: now) >= entry.expires {
        renew(id, with: record, at: now, jitter: jitter)
      }
      return .known
    }
    // All senders outside the link share the capacity of one sender.
    let candidate = Candidate(
      setKey: setKey,
      source: Source(interface: interface, address: isOnLink ? source.scoped(to: 0) : .any4),
      cost: Self.cost(of: record))
    guard record.timeToLive > 0, makeRoom(for: candidate, at: now, isWanted) else {
      return .refused
    }
    add(record, entryKey, candidate, at: now, jitter: jitter)
    return .new
  }

  private mutating func add(
    _ record: Record, _ entryKey: EntryKey, _ candidate: Candidate, at now: Instant, jitter: UInt8
  ) {
    var entry = Entry(
      record: record, received: now, expires: Self.end(of: record, received: now),
      serial: makeSerial(), jitter: jitter)
    if let first = sets[candidate.setKey]?.first, let name = slots[first]?.entry.record.name,
      name.wire == record.name.wire
    {
      // Share one copy of the name among all records of the set.
      entry.record.name = name
    }
    let id = free.popLast() ?? slots.count
    if id == slots.count { slots.append(nil) }
    slots[id] = Slot(
      entry: entry, setKey: candidate.setKey, source: candidate.source, cost: candidate.cost)
    slotIndices[entryKey] = id
    interfaces[entryKey.interface, default: Usage()].add(candidate.cost)
    sources[candidate.source, default: Usage()].add(candidate.cost)
    link(id, at: candidate.setKey)
    schedule(id)
  }

  private mutating func renew(
    _ id: Int, with record: Record, at now: Instant, jitter: UInt8
  ) {
    guard let setKey = slots[id]?.setKey, var entry = slots[id]?.entry else { return }
    entry.record.timeToLive = record.timeToLive
    entry.record.flushesCache = record.flushesCache
    entry.received = now
    entry.expires = Self.end(of: record, received: now)
    entry.serial = makeSerial()
    entry.refreshes = 0
    entry.isExpiring = false
    entry.jitter = jitter
    entry.unanswered = nil
    slots[id]?.entry = entry
    unlink(id, at: setKey)
    link(id, at: setKey)
    schedule(id)
  }

  private static func end(of record: Record, received now: Instant) -> Instant {
    now.advanced(by: .seconds(Int64(min(record.timeToLive, TimeToLive.ceiling))))
  }

  /// Applies a cache-flush bit: records of the set that are older than one second expire in one
  /// second (RFC 6762 §10.2). Each record is visited only once, because the list is in order of
  /// arrival.
  private mutating func flush(_ setKey: SetKey, at now: Instant) {
    while let id = sets[setKey]?.unflushed, let slot = slots[id],
      slot.entry.received.advanced(by: Self.gracePeriod) < now
    {
      shortenLife(id, to: Self.gracePeriod, at: now)
      sets[setKey]?.unflushed = slot.next
    }
  }

  private mutating func link(_ id: Int, at setKey: SetKey) {
    var set = sets[setKey] ?? RecordSet()
    slots[id]?.previous = set.last
    slots[id]?.next = nil
    if let last = set.last { slots[last]?.next = id } else { set.first = id }
    set.last = id
    set.count += 1
    set.unflushed = set.unflushed ?? id
    sets[setKey] = set
  }

  private mutating func unlink(_ id: Int, at setKey: SetKey) {
    guard let slot = slots[id], var set = sets[setKey] else { return }
    if let previous = slot.previous {
      slots[previous]?.next = slot.next
    } else {
      set.first = slot.next
    }
    if let next = slot.next {
      slots[next]?.previous = slot.previous
    } else {
      set.last = slot.previous
    }
    if set.unflushed == id { set.unflushed = slot.next }
    set.count -= 1
    sets[setKey] = set.count == 0 ? nil : set
  }

  /// Removes and returns the contents of a slot, or returns nil if the slot is empty.
  mutating func remove(_ id: Int) -> Slot? {
    guard let slot = slots[id] else { return nil }
    unlink(id, at: slot.setKey)
    slots[id] = nil
    free.append(id)
    slotIndices[EntryKey(interface: slot.setKey.interface, identity: slot.entry.record.identity)] =
      nil
    interfaces[slot.setKey.interface]?.remove(slot.cost)
    sources[slot.source]?.remove(slot.cost)
    if interfaces[slot.setKey.interface]?.count == 0 { interfaces[slot.setKey.interface] = nil }
    if sources[slot.source]?.count == 0 { sources[slot.source] = nil }
    return slot
  }
}

/// A copy of a cached record, for a caller outside the querier.
package struct CachedRecord: Hashable, Sendable {
  /// The record as it was received.
  package var record: Record
  /// The index of the interface on which the record was received.
  package var interface: UInt32
  /// The time until the record expires.
  package var timeLeft: Duration
}
