import CaromCore

extension RecordCache {
  /// What an interface or a sender has filled.
  struct Usage: Sendable {
    private(set) var count = 0
    private(set) var bytes = 0
    /// Records of no more worth than this find no room before `until`: the last search found
    /// little to drop for them.
    var stuck: (worth: Worth, until: Instant)?

    mutating func add(_ cost: Int) {
      count += 1
      bytes += cost
    }

    mutating func remove(_ cost: Int) {
      count -= 1
      bytes -= cost
    }
  }

  /// How much there is to lose with a record.
  enum Worth: Int, Comparable, Sendable {
    /// It answers no open question.
    case idle
    /// It can be asked for again when it is needed.
    case detail
    /// Without it a service is gone for who browses.
    case pointer

    static func < (a: Worth, b: Worth) -> Bool { a.rawValue < b.rawValue }
  }

  /// A record that wants in.
  struct Newcomer {
    var place: Place
    var source: Source
    var cost: Int
  }

  /// How much may stand in some part of the cache.
  private struct Bound {
    var count: Int
    var bytes: Int

    func allows(_ usage: Usage, _ cost: Int) -> Bool {
      usage.count < count && usage.bytes + cost <= bytes
    }
  }

  /// A record that may have to go; without the record itself, since many are sorted.
  private struct Candidate {
    var id: Int
    var worth: Worth
    var source: Source
    var expires: Instant
    var serial: UInt64
    /// How many records its sender has that live longer and are worth as much.
    var rank = 0

    init(id: Int, worth: Worth, slot: Slot) {
      self.id = id
      self.worth = worth
      source = slot.source
      expires = slot.entry.expires
      serial = slot.entry.serial
    }
  }

  /// An eighth goes at a time, so that searching costs little for each record that comes.
  private static let part = 8
  /// After a search that found little, so long nothing is searched for the same.
  private static let pause = Duration.seconds(1)
  private static let whole = Bound(count: capacity, bytes: byteCapacity)
  private static let share = Bound(
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

  private static func worth(of key: RecordKey, _ isWanted: (RecordKey) -> Bool) -> Worth {
    guard isWanted(key) else { return .idle }
    return key.type == .ptr ? .pointer : .detail
  }

  /// Drops what is worth least until the newcomer fits under its name, beside what its sender
  /// said before, and on its interface; never what is worth more than itself. Says whether it
  /// fits.
  mutating func makeRoom(
    for newcomer: Newcomer, at now: Instant, _ isWanted: (RecordKey) -> Bool
  ) -> Bool {
    let worth = Self.worth(of: newcomer.place.key, isWanted)
    guard newcomer.cost <= Self.share.bytes else { return false }
    makeRoomInRow(at: newcomer.place, worth)
    let source = newcomer.source
    if let usage = sources[source], !Self.share.allows(usage, newcomer.cost) {
      guard
        makeRoom(
          in: \.sources[source], Self.share, newcomer.cost, worth, at: now, isWanted,
          where: { $0.source == source })
      else { return false }
    }
    let interface = newcomer.place.interface
    guard let usage = interfaces[interface], !Self.whole.allows(usage, newcomer.cost) else {
      return true
    }
    return makeRoom(
      in: \.interfaces[interface], Self.whole, newcomer.cost, worth, at: now, isWanted,
      where: { $0.place.interface == interface })
  }

  private mutating func makeRoomInRow(at place: Place, _ worth: Worth) {
    let limit = place.key.type == .ptr ? Self.pointerCapacity : Self.setCapacity
    guard let row = rows[place], row.count >= limit else { return }
    var candidates: [Candidate] = []
    var id = row.first
    while let next = id, let slot = slots[next] {
      candidates.append(Candidate(id: next, worth: worth, slot: slot))
      id = slot.next
    }
    // Whatever it is worth, the greediest sender loses.
    Self.rank(&candidates)
    candidates.sort { Self.goesBefore($0, $1, isFair: true) }
    for candidate in candidates.prefix(limit / Self.part) { evict(candidate.id) }
  }

  private mutating func makeRoom(
    in usage: WritableKeyPath<RecordCache, Usage?>, _ bound: Bound, _ cost: Int, _ worth: Worth,
    at now: Instant, _ isWanted: (RecordKey) -> Bool, where isThere: (Slot) -> Bool
  ) -> Bool {
    guard let full = self[keyPath: usage], !bound.allows(full, cost) else { return true }
    if let stuck = full.stuck, worth <= stuck.worth, now < stuck.until { return false }
    var candidates: [Candidate] = []
    for id in slots.indices {
      guard let slot = slots[id], isThere(slot) else { continue }
      let other = Self.worth(of: slot.place.key, isWanted)
      if other <= worth { candidates.append(Candidate(id: id, worth: other, slot: slot)) }
    }
    Self.rank(&candidates)
    candidates.sort { Self.goesBefore($0, $1, isFair: false) }
    let goal = Bound(
      count: bound.count - bound.count / Self.part, bytes: bound.bytes - bound.bytes / Self.part)
    var rest = candidates[...]
    while let left = self[keyPath: usage], !goal.allows(left, cost),
      let candidate = rest.popFirst()
    {
      evict(candidate.id)
    }
    guard let left = self[keyPath: usage] else { return true }
    if !goal.allows(left, cost) {
      self[keyPath: usage]?.stuck = (worth, now.advanced(by: Self.pause))
    }
    return bound.allows(left, cost)
  }

  /// Numbers what each sender said, what lives longest first.
  private static func rank(_ candidates: inout [Candidate]) {
    struct SenderRank: Hashable {
      var source: Source
      var worth: Worth
    }
    candidates.sort { ($0.expires, $0.serial) > ($1.expires, $1.serial) }
    var counts: [SenderRank: Int] = [:]
    for index in candidates.indices {
      let group = SenderRank(source: candidates[index].source, worth: candidates[index].worth)
      candidates[index].rank = counts[group, default: 0]
      counts[group, default: 0] += 1
    }
  }

  /// What is worth least goes first. Of what nobody wants, what expires first; of the rest,
  /// what the greediest sender said, so that whoever says little is the last to lose it.
  private static func goesBefore(_ a: Candidate, _ b: Candidate, isFair: Bool) -> Bool {
    if a.worth != b.worth { return a.worth < b.worth }
    if a.rank != b.rank, isFair || a.worth != .idle { return a.rank > b.rank }
    return (a.expires, a.serial) < (b.expires, b.serial)
  }

  private mutating func evict(_ id: Int) {
    guard let slot = remove(id) else { return }
    evicted.append((slot.place, slot.entry.record))
  }
}
