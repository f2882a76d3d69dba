import CaromCore

/// Queries the links for services and records, and caches the answers (RFC 6762 §5, RFC 6763 §4).
/// CNAME records are cached but not followed.
package struct Querier: Sendable {
  /// The maximum number of concurrent browse operations.
  package static let browseLimit = 256
  /// The maximum number of concurrent resolve operations.
  package static let resolverLimit = 4096
  /// The maximum number of concurrent TXT record monitors.
  package static let monitorLimit = 4096
  /// The maximum number of concurrent record queries.
  package static let queryLimit = 1024
  /// The number of active questions at which browse operations stop asking for the TXT records of
  /// new services, so that a flood of services does not cause a flood of queries.
  package static let detailLimit = 8192
  /// The maximum number of concurrent reconfirmations.
  package static let reconfirmLimit = 1024
  /// The number of query packets that may be sent in a burst. The limit keeps a flood of names from
  /// causing a flood of queries.
  static let packetBurst = 128
  /// The interval at which the rate limit allows one more query packet after a burst of
  /// `packetBurst` packets.
  static let packetInterval = Duration.milliseconds(25)
  /// The number of questions that are assumed to fill a packet.
  static let packetQuestions = 40
  /// How long a reconfirmed record remains cached unless it is received again (RFC 6762 §10.4).
  static let reconfirmationTimeout = Duration.seconds(10)
  /// How long an answer to the question that follows a goodbye may take: the delay of a shared
  /// answer is at most 120 ms (RFC 6762 §6).
  static let answerTimeout = Duration.milliseconds(250)
  /// The minimum time between the last query and the query that follows a record's expiry, however
  /// short the record's time to live.
  static let expiryPause = Duration.seconds(15)

  var cache = RecordCache()
  var links: [Link] = []
  var activeQuestions = ActiveQuestions()
  var browses: [BrowseID: Browse] = [:]
  var resolvers: [ResolveID: Resolver] = [:]
  var resolverTimers = DeadlineQueue<ResolveID>()
  /// The resolvers that need evaluation, in the order in which they were marked for it.
  var pendingResolvers: [ResolveID] = []
  var monitors: [MonitorID: Monitor] = [:]
  var queries: [QueryID: RecordKey] = [:]
  var reconfirmations: [RecordKey: Instant] = [:]
  var reconfirmationTimers = DeadlineQueue<RecordKey>()
  var generator: SeededGenerator
  /// The time at which new questions are first asked. Questions that start shortly before this time
  /// share a packet. Nil if no question has started.
  private var sharedStart: Instant?
  /// The earliest time at which the rate limit allows the next query packet (the state of the
  /// generic cell rate algorithm).
  var busyUntil = Instant.zero
  private var outbox = Deque<Transmit>()
  private var events = Deque<Event>()
  private var nextNumber: UInt64 = 1

  /// A monitored TXT record.
  struct Monitor: Sendable {
    let key: RecordKey
    var text: TXTRecord?
  }

  /// Creates a querier without links.
  package init(generator: SeededGenerator) { self.generator = generator }

  /// Removes and returns the next datagram to send, or returns nil if there is none. Poll until nil
  /// after each mutating call.
  package mutating func pollTransmit() -> Transmit? { outbox.popFirst() }

  /// Removes and returns the next event, or returns nil if there is none. Poll until nil after each
  /// mutating call, so that the events of one call are handled together.
  package mutating func pollEvent() -> Event? { events.popFirst() }

  /// Whether `pollEvent` still has events to return.
  package var hasMoreEvents: Bool { !events.isEmpty }

  /// The next time at which `handleTimeout` must be called, or nil if no timer is armed.
  package var nextTimeout: Instant? {
    let question = activeQuestions.nextTimeout.map { max($0, busyUntil) }
    let asking = earliest(question, reconfirmationTimers.nextDeadline)
    return earliest(earliest(cache.nextTimeout, resolverTimers.nextDeadline), asking)
  }

  mutating func emit(_ event: Event) { events.append(event) }

  mutating func transmit(_ transmit: Transmit) { outbox.append(transmit) }

  /// Removes the pending events of a browse, monitor, query or resolve operation that was stopped.
  mutating func dropEvents(of number: UInt64) { events.removeAll { $0.number == number } }

  mutating func makeNumber() -> UInt64 {
    defer { nextNumber += 1 }
    return nextNumber
  }

  /// Returns the time of a new question's first query, after a random delay (RFC 6762 §5.2).
  mutating func makeStart(at now: Instant) -> Instant {
    if let sharedStart, sharedStart >= now.advanced(by: QuestionSchedule.firstDelay.lowerBound) {
      return sharedStart
    }
    let start = now.advanced(by: generator.duration(in: QuestionSchedule.firstDelay))
    sharedStart = start
    return start
  }
}

// MARK: - Active questions

extension Querier {
  /// Adds an observer to a question, and starts asking the question unless it is already being
  /// asked or the cache answers it.
  mutating func open(_ key: RecordKey, for observer: ActiveQuestion.Observer, at now: Instant) {
    guard activeQuestions[key] == nil else {
      activeQuestions.add(observer, for: key, on: links, start: now)
      return
    }
    activeQuestions.add(observer, for: key, on: links, start: makeStart(at: now))
    if isAnswered(key) { return activeQuestions.modify(key) { $0.modify(nil) { $0.suspend() } } }
    for link in links where isDenied(key, on: link.index) {
      activeQuestions.modify(key) { $0.denied(on: link.index) }
    }
  }

  /// Returns whether the cache holds a complete answer on any link. A unique record set counts as a
  /// complete answer, because it is always received whole (RFC 6762 §10.2).
  func isAnswered(_ key: RecordKey) -> Bool { links.contains { isAnswered(key, on: $0.index) } }

  func isAnswered(_ key: RecordKey, on interface: UInt32) -> Bool {
    cache.current(at: RecordCache.SetKey(interface: interface, key: key))
      .contains { $0.record.flushesCache }
  }

  /// Returns whether the name's owner denied that the records exist.
  func isDenied(_ key: RecordKey, on interface: UInt32) -> Bool {
    cache.isDenied(key, on: interface)
  }
}

extension RecordCache {
  /// Returns whether a cached NSEC record denies that the name has records of the type, and no
  /// cached record contradicts it.
  func isDenied(_ key: RecordKey, on interface: UInt32) -> Bool {
    let denial = SetKey(interface: interface, key: RecordKey(key.name, .nsec))
    return newest(at: denial)?.denies(key.type) ?? false
      && newest(at: SetKey(interface: interface, key: key)) == nil
  }
}
