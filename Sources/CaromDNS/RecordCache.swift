import CaromCore

/// What others on the links have said, for as long as they allow; bounded.
package struct RecordCache: Sendable {
  /// Records an interface may bring, so that junk on one link costs no other and no memory
  /// without end.
  package static let capacity = 4096
  /// A flushed or withdrawn record lives that long (RFC 6762 §10.1, §10.2).
  static let grace = Duration.seconds(1)
  /// Parts of the time to live, in thousandths, at which a wanted record is asked for again
  /// (RFC 6762 §5.2).
  static let refreshPoints: [Int64] = [800, 850, 900, 950]
  /// A record younger than that is not refreshed, so that tiny times to live cause no polling.
  static let refreshFloor = Duration.seconds(12)

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
    var refreshes = 0
    /// Whether it was withdrawn, replaced or doubted, and lives its last seconds.
    var isLeaving = false
    /// Per mille of the time to live by which refreshes are put off, 0 to 20.
    var jitter: Int64
  }

  /// What time brings.
  package enum Event: Sendable {
    case expired(Place, Record)
    case refresh(Place)
  }

  private struct Timer: Sendable {
    var place: Place
    var serial: UInt64
  }

  private var entries: [Place: [Entry]] = [:]
  private var counts: [UInt32: Int] = [:]
  private var timers = DeadlineQueue<Timer>()
  private var nextSerial: UInt64 = 0

  package init() {}

  /// How many records it holds.
  package var count: Int { counts.values.reduce(0, +) }

  /// How many timers it keeps for them; some are stale.
  package var timerCount: Int { timers.count }

  /// The live records at `place`, oldest first.
  package func entries(at place: Place) -> [Entry] { entries[place] ?? [] }

  /// The records at `place` that were not withdrawn or replaced, the last heard at the end.
  package func current(at place: Place) -> [Entry] {
    let list = entries(at: place).sorted { ($0.received, $0.serial) < ($1.received, $1.serial) }
    return list.filter { !$0.isLeaving }
  }

  /// The next moment at which `handleTimeout` has something to do.
  package var nextTimeout: Instant? { timers.first }

  /// Takes a record in. `isWanted` says which places answer an open question: they are kept
  /// when room runs out. Says whether the record is new.
  package mutating func insert(
    _ record: Record, on interface: UInt32, at now: Instant, jitter: Int64,
    isWanted: (RecordKey) -> Bool
  ) -> Bool {
    let place = Place(interface: interface, key: record.key)
    var list = entries[place] ?? []
    if record.flushesCache, record.timeToLive > 0 { flush(&list, but: record, place, at: now) }
    let known = list.firstIndex { $0.record.identity == record.identity }
    if known == nil {
      guard record.timeToLive > 0, makeRoom(for: record.key, on: interface, isWanted) else {
        entries[place] = list.isEmpty ? nil : list
        return false
      }
      counts[interface, default: 0] += 1
    }
    var entry = Entry(
      record: record, received: now,
      expires: now.advanced(by: .seconds(Int64(min(record.timeToLive, TimeToLive.ceiling)))),
      serial: nextSerial, jitter: jitter)
    if record.timeToLive == 0, let known {
      entry = list[known]
      entry.expires = min(entry.expires, now.advanced(by: Self.grace))
      entry.isLeaving = true
      entry.refreshes = Self.refreshPoints.count
      entry.serial = nextSerial
    }
    nextSerial += 1
    if let known { list[known] = entry } else { list.append(entry) }
    entries[place] = list
    schedule(entry, place)
    return known == nil
  }

  /// Older records under the name and type go in a second (RFC 6762 §10.2).
  private mutating func flush(
    _ list: inout [Entry], but record: Record, _ place: Place, at now: Instant
  ) {
    for index in list.indices
    where list[index].record.identity != record.identity
      && list[index].received.advanced(by: Self.grace) < now
    {
      shorten(&list[index], to: Self.grace, place, at: now)
    }
  }

  private mutating func shorten(
    _ entry: inout Entry, to rest: Duration, _ place: Place, at now: Instant
  ) {
    entry.expires = min(entry.expires, now.advanced(by: rest))
    entry.isLeaving = true
    entry.refreshes = Self.refreshPoints.count
    entry.serial = nextSerial
    nextSerial += 1
    schedule(entry, place)
  }

  /// The doubted records at `place` go after `rest` unless somebody says them again
  /// (RFC 6762 §10.4).
  package mutating func doubt(
    _ place: Place, for rest: Duration, at now: Instant, _ isDoubted: (Record) -> Bool
  ) {
    guard var list = entries[place] else { return }
    for index in list.indices where isDoubted(list[index].record) {
      shorten(&list[index], to: rest, place, at: now)
    }
    entries[place] = list
  }

  private mutating func schedule(_ entry: Entry, _ place: Place) {
    if timers.count > 256, timers.count > 4 * count {
      timers.filter { timer in
        entries[timer.place]?.contains { $0.serial == timer.serial } ?? false
      }
    }
    timers.insert(Timer(place: place, serial: entry.serial), at: Self.deadline(of: entry))
  }

  private static func deadline(of entry: Entry) -> Instant {
    guard entry.refreshes < refreshPoints.count else { return entry.expires }
    let life = entry.received.duration(to: entry.expires)
    return entry.received.advanced(
      by: life / 1000 * (refreshPoints[entry.refreshes] + entry.jitter))
  }
}

// MARK: - Time and room

extension RecordCache {
  /// The next thing that is due; call until `nil`. `isWanted` says what is worth a refresh.
  package mutating func handleTimeout(
    at now: Instant, isWanted: (RecordKey) -> Bool
  ) -> Event? {
    while let timer = timers.popFirst(until: now) {
      guard var list = entries[timer.place],
        let index = list.firstIndex(where: { $0.serial == timer.serial })
      else { continue }
      if list[index].expires <= now {
        let record = list.remove(at: index).record
        entries[timer.place] = list.isEmpty ? nil : list
        counts[timer.place.interface, default: 1] -= 1
        return .expired(timer.place, record)
      }
      list[index].refreshes += 1
      entries[timer.place] = list
      schedule(list[index], timer.place)
      let age = list[index].received.duration(to: now)
      if age >= Self.refreshFloor, isWanted(timer.place.key) { return .refresh(timer.place) }
    }
    return nil
  }

  /// Forgets an interface; gives what it had brought, oldest first.
  package mutating func removeAll(on interface: UInt32) -> [(Place, Record)] {
    let gone = entries.filter { $0.key.interface == interface }
    for place in gone.keys { entries[place] = nil }
    counts[interface] = nil
    return gone.flatMap { place, list in list.map { (place, $0) } }
      .sorted { $0.1.serial < $1.1.serial }
      .map { ($0.0, $0.1.record) }
  }

  /// Makes room by dropping an eighth of the capacity: records that nobody wants, those that
  /// expire first. Says whether there is room for a record at `key`.
  private mutating func makeRoom(
    for key: RecordKey, on interface: UInt32, _ isWanted: (RecordKey) -> Bool
  ) -> Bool {
    guard counts[interface, default: 0] >= Self.capacity else { return true }
    var idle: [(Place, Entry)] = []
    for (place, list) in entries where place.interface == interface && !isWanted(place.key) {
      idle += list.map { (place, $0) }
    }
    idle.sort { ($0.1.expires, $0.1.serial) < ($1.1.expires, $1.1.serial) }
    for (place, entry) in idle.prefix(Self.capacity / 8) {
      entries[place]?.removeAll { $0.serial == entry.serial }
      if entries[place]?.isEmpty == true { entries[place] = nil }
      counts[interface, default: 1] -= 1
    }
    return counts[interface, default: 0] < Self.capacity
  }
}
