import CaromCore

/// Asks the links for services and records, and keeps what they say (RFC 6762 §5, RFC 6763 §4).
/// Polled. CNAME records are kept like any other, and not followed.
package struct Querier: Sendable {
  /// Browsings at a time.
  package static let browseLimit = 256
  /// Resolvings at a time.
  package static let resolverLimit = 4096
  /// Monitorings of strings at a time.
  package static let monitorLimit = 4096
  /// Queries for records at a time.
  package static let queryLimit = 1024
  /// Inquiries beyond which no strings are asked for that belong to found services: a flood of
  /// them makes no flood of questions.
  package static let detailLimit = 8192
  /// Records that are doubted at a time.
  package static let reconfirmLimit = 1024
  /// Packets with questions that leave at once, and one more after each interval: a flood of
  /// names makes no flood of questions.
  static let packetBurst = 128
  static let packetInterval = Duration.milliseconds(25)
  /// Questions that hardly fill more than a packet.
  static let packetQuestions = 40
  /// A doubted record is gone after that, unless somebody repeats it (RFC 6762 §10.4).
  static let doubtPatience = Duration.seconds(10)
  /// A record that has run out, short as its life may have been, is not asked for earlier than
  /// this after the last query.
  static let expiryPause = Duration.seconds(15)

  var cache = RecordCache()
  var links: [Link] = []
  var inquiries = ActiveQuestions()
  var browses: [BrowseID: Browse] = [:]
  var resolvers: [ResolveID: Resolver] = [:]
  var resolverTimers = DeadlineQueue<ResolveID>()
  /// Resolvers that something was heard for, in that order.
  var touched: [ResolveID] = []
  var monitors: [MonitorID: Monitor] = [:]
  var queries: [QueryID: RecordKey] = [:]
  var doubts: [RecordKey: Instant] = [:]
  var doubtTimers = DeadlineQueue<RecordKey>()
  var generator: SeededGenerator
  /// When the next first queries go: what is opened until shortly before goes with them.
  private var gathering: Instant?
  /// When what was sent would have left at the steady rate, less the burst: before that no
  /// packet leaves.
  var busyUntil = Instant.zero
  private var outbox = Deque<Transmit>()
  private var events = Deque<Event>()
  private var nextNumber: UInt64 = 1

  /// Strings that are watched.
  struct Monitor: Sendable {
    let key: RecordKey
    var text: TXTRecord?
  }

  /// A querier without links.
  package init(generator: SeededGenerator) { self.generator = generator }

  /// The next packet to send; poll until `nil` after each call that changes something.
  package mutating func pollTransmit() -> Transmit? { outbox.popFirst() }

  /// The next event; poll until `nil` after each call that changes something. All that one call
  /// brought comes in one go.
  package mutating func pollEvent() -> Event? { events.popFirst() }

  /// Whether `pollEvent` has more of what the last call brought.
  package var hasMoreEvents: Bool { !events.isEmpty }

  /// When `handleTimeout` has something to do.
  package var nextTimeout: Instant? {
    let question = inquiries.nextTimeout.map { max($0, busyUntil) }
    let asking = earliest(question, doubtTimers.nextDeadline)
    return earliest(earliest(cache.nextTimeout, resolverTimers.nextDeadline), asking)
  }

  mutating func emit(_ event: Event) { events.append(event) }

  mutating func transmit(_ outgoing: Transmit) { outbox.append(outgoing) }

  /// Takes back what was not told yet to whom nothing is to be told any more.
  mutating func dropEvents(of number: UInt64) { events.removeAll { $0.number == number } }

  mutating func makeNumber() -> UInt64 {
    defer { nextNumber += 1 }
    return nextNumber
  }

  /// When a first query goes (RFC 6762 §5.2).
  mutating func makeStart(at now: Instant) -> Instant {
    if let gathering, gathering >= now.advanced(by: QuestionSchedule.firstDelay.lowerBound) {
      return gathering
    }
    let start = now.advanced(by: generator.duration(in: QuestionSchedule.firstDelay))
    gathering = start
    return start
  }
}

// MARK: - Inquiries

extension Querier {
  /// Has a question asked for somebody.
  mutating func open(_ key: RecordKey, for watcher: ActiveQuestion.Watcher, at now: Instant) {
    guard inquiries[key] == nil else {
      inquiries.add(watcher, for: key, on: links, start: now)
      return
    }
    inquiries.add(watcher, for: key, on: links, start: makeStart(at: now))
    if isAnswered(key) { return inquiries.modify(key) { $0.modify(nil) { $0.rest() } } }
    for link in links where isDenied(key, on: link.index) {
      inquiries.modify(key) { $0.denied(on: link.index) }
    }
  }

  /// Whether the whole answer is known: a unique record set comes whole (RFC 6762 §10.2).
  func isAnswered(_ key: RecordKey) -> Bool { links.contains { isAnswered(key, on: $0.index) } }

  func isAnswered(_ key: RecordKey, on interface: UInt32) -> Bool {
    cache.current(at: RecordCache.Place(interface: interface, key: key))
      .contains { $0.record.flushesCache }
  }

  /// Whether the name's owner says that it has no such record, and nothing is known that says
  /// otherwise.
  func isDenied(_ key: RecordKey, on interface: UInt32) -> Bool {
    cache.isDenied(key, on: interface)
  }
}

extension RecordCache {
  /// Whether an NSEC record says that a name lacks a type (RFC 6762 §6.1). Lists of shared PTR
  /// records cannot be denied.
  func isDenied(_ key: RecordKey, on interface: UInt32) -> Bool {
    let denial = Place(interface: interface, key: RecordKey(key.name, .nsec))
    guard key.type != .ptr, key.type != .any, key.type != .nsec, key.type.rawValue < 256,
      case .types(_, let types) = newest(at: denial), !types.contains(key.type)
    else { return false }
    return newest(at: Place(interface: interface, key: key)) == nil
  }
}
