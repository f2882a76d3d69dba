import CaromCore

extension RecordCache {
  /// The number and the size of the records that one interface or one sender has in the cache.
  struct Usage: Sendable {
    private(set) var count = 0
    private(set) var bytes = 0
    /// The outcome of the last search that could not free the needed space, or nil if there was no
    /// such search. Until the time `until`, records of `priority` or lower are refused without
    /// another search.
    var exhausted: (priority: Priority, until: Instant)?

    mutating func add(_ cost: Int) {
      count += 1
      bytes += cost
    }

    mutating func remove(_ cost: Int) {
      count -= 1
      bytes -= cost
    }
  }

  /// The importance of a record: records of lower priority are evicted first.
  enum Priority: Int, Comparable, Sendable {
    /// The record answers no active question.
    case idle
    /// The record answers an active question, but is not a PTR record. It can be queried again when
    /// it is needed.
    case detail
    /// The record is a PTR record that answers an active question. Evicting it would make a service
    /// disappear from a browser.
    case pointer

    static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
  }

  /// A received record that is not in the cache yet.
  struct Candidate {
    var setKey: SetKey
    var source: Source
    var cost: Int
  }

  /// The maximum number and total size, in bytes, of the records of one interface or one sender.
  private struct Limit {
    var count: Int
    var bytes: Int

    func allows(_ usage: Usage, _ cost: Int) -> Bool {
      usage.count < count && usage.bytes + cost <= bytes
    }
  }

  /// A record that may be evicted, reduced to the values that sorting needs, because many records
  /// are sorted together.
  private struct Eviction {
    var id: Int
    var priority: Priority
    var source: Source
    var expires: Instant
    var serial: UInt64
    /// The number of records from the same sender and of the same priority that expire later.
    var rank = 0

    init(id: Int, priority: Priority, slot: Slot) {
      self.id = id
      self.priority = priority
      source = slot.source
      expires = slot.entry.expires
      serial = slot.entry.serial
    }
  }

  /// The divisor that determines how much a search for records to evict frees: one eighth of the
  /// capacity of the interface, sender or record set that is full, so that only a few of the
  /// following records require another search.
  private static let evictionDivisor = 8
  /// How long new records are refused without another search after a search has freed too little
  /// space.
  private static let searchPause = Duration.seconds(1)
  private static let whole = Limit(count: capacity, bytes: byteCapacity)
  private static let share = Limit(
    count: capacity / sourceShare, bytes: byteCapacity / sourceShare)

  static func cost(of record: Record) -> Int {
    let data =
      switch record.data {
      case .address: 0
      case .pointer(let name), .service(_, _, _, let name): 2 * name.wire.count
      case .text(let bytes), .raw(_, let bytes): bytes.count
      case .types(let next, let types): 2 * (next.wire.count + types.count)
      }
    return overhead + 2 * record.name.wire.count + data
  }

  private static func priority(of key: RecordKey, _ isWanted: (RecordKey) -> Bool) -> Priority {
    guard isWanted(key) else { return .idle }
    return key.type == .ptr ? .pointer : .detail
  }

  /// Evicts the least valuable records until `candidate` fits into its record set, its sender's
  /// share and its interface's share. Never evicts a record of a higher priority than the
  /// candidate's. Returns whether the candidate fits.
  mutating func makeRoom(
    for candidate: Candidate, at now: Instant, _ isWanted: (RecordKey) -> Bool
  ) -> Bool {
    let priority = Self.priority(of: candidate.setKey.key, isWanted)
    guard candidate.cost <= Self.share.bytes else { return false }
    makeRoomInSet(at: candidate.setKey, priority)
    let source = candidate.source
    if let usage = sources[source], !Self.share.allows(usage, candidate.cost) {
      guard
        makeRoom(
          in: \.sources[source], Self.share, candidate.cost, priority, at: now, isWanted,
          where: { $0.source == source })
      else { return false }
    }
    let interface = candidate.setKey.interface
    guard let usage = interfaces[interface], !Self.whole.allows(usage, candidate.cost) else {
      return true
    }
    return makeRoom(
      in: \.interfaces[interface], Self.whole, candidate.cost, priority, at: now, isWanted,
      where: { $0.setKey.interface == interface })
  }

  private mutating func makeRoomInSet(at setKey: SetKey, _ priority: Priority) {
    let limit = setKey.key.type == .ptr ? Self.pointerCapacity : Self.setCapacity
    guard let set = sets[setKey], set.count >= limit else { return }
    var evictions: [Eviction] = []
    var id = set.first
    while let next = id, let slot = slots[next] {
      evictions.append(Eviction(id: next, priority: priority, slot: slot))
      id = slot.next
    }
    // All records of a set count as equally valuable, so the sender of the most records loses
    // first.
    Self.rank(&evictions)
    evictions.sort { Self.isEvictedFirst($0, $1, isFair: true) }
    for eviction in evictions.prefix(limit / Self.evictionDivisor) { evict(eviction.id) }
  }

  private mutating func makeRoom(
    in usage: WritableKeyPath<RecordCache, Usage?>, _ limit: Limit, _ cost: Int,
    _ priority: Priority,
    at now: Instant, _ isWanted: (RecordKey) -> Bool, where isIncluded: (Slot) -> Bool
  ) -> Bool {
    guard let full = self[keyPath: usage], !limit.allows(full, cost) else { return true }
    if let exhausted = full.exhausted, priority <= exhausted.priority, now < exhausted.until {
      return false
    }
    var evictions: [Eviction] = []
    for id in slots.indices {
      guard let slot = slots[id], isIncluded(slot) else { continue }
      let other = Self.priority(of: slot.setKey.key, isWanted)
      if other <= priority { evictions.append(Eviction(id: id, priority: other, slot: slot)) }
    }
    Self.rank(&evictions)
    evictions.sort { Self.isEvictedFirst($0, $1, isFair: false) }
    let goal = Limit(
      count: limit.count - limit.count / Self.evictionDivisor,
      bytes: limit.bytes - limit.bytes / Self.evictionDivisor)
    var rest = evictions[...]
    while let left = self[keyPath: usage], !goal.allows(left, cost),
      let eviction = rest.popFirst()
    {
      evict(eviction.id)
    }
    guard let left = self[keyPath: usage] else { return true }
    if !goal.allows(left, cost) {
      self[keyPath: usage]?.exhausted = (priority, now.advanced(by: Self.searchPause))
    }
    return limit.allows(left, cost)
  }

  /// Ranks the records of each sender within each priority, the latest expiry first.
  private static func rank(_ evictions: inout [Eviction]) {
    struct SenderRank: Hashable {
      var source: Source
      var priority: Priority
    }
    evictions.sort { ($0.expires, $0.serial) > ($1.expires, $1.serial) }
    var counts: [SenderRank: Int] = [:]
    for index in evictions.indices {
      let group = SenderRank(source: evictions[index].source, priority: evictions[index].priority)
      evictions[index].rank = counts[group, default: 0]
      counts[group, default: 0] += 1
    }
  }

  /// Returns whether `a` is evicted before `b`. Records of lower priority are evicted first. Among
  /// idle records, the earliest to expire is evicted first. Among other records, those of the
  /// sender with the most records are evicted first, so that a sender of few records keeps them
  /// longest. If `isFair`, the last rule also applies to idle records.
  private static func isEvictedFirst(_ a: Eviction, _ b: Eviction, isFair: Bool) -> Bool {
    if a.priority != b.priority { return a.priority < b.priority }
    if a.rank != b.rank, isFair || a.priority != .idle { return a.rank > b.rank }
    return (a.expires, a.serial) < (b.expires, b.serial)
  }

  private mutating func evict(_ id: Int) {
    guard let slot = remove(id) else { return }
    evicted.append((slot.setKey, slot.entry.record))
  }
}
