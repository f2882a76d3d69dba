import CaromCore

/// Asks the links for services and keeps what they say (RFC 6762 §5, RFC 6763 §4). Polled.
package struct Querier: Sendable {
  /// What the user is told.
  package enum Event: Hashable, Sendable {
    /// A service is there; once, on however many links.
    case added(BrowseID, FoundService)
    /// Its strings are others.
    case updated(BrowseID, FoundService)
    /// It said goodbye, or was not heard of for as long as its records allow.
    case removed(BrowseID, FoundService)
    /// Where it listens; the last event of a resolving.
    case resolved(ResolveID, Resolution)
    /// The deadline passed; the last event of a resolving.
    case unresolved(ResolveID)
  }

  /// A unicast answer counts so long after the question that asked for it (RFC 6762 §6).
  static let unicastWindow = Duration.seconds(2)
  /// A doubted record is gone after that, unless somebody repeats it (RFC 6762 §10.4).
  static let doubtPatience = Duration.seconds(10)

  private(set) var cache = RecordCache()
  private var links: [Link] = []
  private var inquiries: [RecordKey: Inquiry] = [:]
  private var browses: [Browse] = []
  private var resolvers: [Resolver] = []
  private var generator: SeededGenerator
  /// Whether unicast answers reach this process: nobody shares the port (RFC 6762 §15.1).
  private let asksUnicast: Bool
  private var askedUnicast: [RecordKey: Instant] = [:]
  private var outbox: [Outgoing] = []
  private var events: [Event] = []
  private var nextNumber: UInt64 = 1

  /// A querier without links.
  package init(generator: SeededGenerator, asksUnicast: Bool = false) {
    self.generator = generator
    self.asksUnicast = asksUnicast
  }

  /// The next packet to send; poll until `nil` after each call that changes something.
  package mutating func pollTransmit() -> Outgoing? { outbox.isEmpty ? nil : outbox.removeFirst() }

  /// The next event; poll until `nil` after each call that changes something.
  package mutating func pollEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  /// When `handleTimeout` has something to do.
  package var nextTimeout: Instant? {
    var next = cache.nextTimeout
    if !links.isEmpty {
      for inquiry in inquiries.values { next = earliest(next, inquiry.next) }
    }
    for resolver in resolvers { next = earliest(next, resolver.nextTimeout) }
    return next
  }

  private mutating func makeNumber() -> UInt64 {
    defer { nextNumber += 1 }
    return nextNumber
  }
}

// MARK: - Intents

extension Querier {
  /// Watches for services under `name`, a type within a domain; what is known already is
  /// reported at once.
  package mutating func browse(_ name: Name, at now: Instant) -> BrowseID {
    let browse = Browse(id: BrowseID(number: makeNumber()), key: RecordKey(name, .ptr))
    browses.append(browse)
    open(browse.key, at: now)
    for link in links {
      let place = RecordCache.Place(interface: link.index, key: browse.key)
      for entry in cache.current(at: place) { found(entry.record, on: link.index, at: now) }
    }
    return browse.id
  }

  /// Stops watching: no further event of this browsing comes.
  package mutating func stopBrowsing(_ id: BrowseID) {
    guard let index = browses.firstIndex(where: { $0.id == id }) else { return }
    let browse = browses.remove(at: index)
    close(browse.key)
    for name in browse.order { close(RecordKey(name, .txt)) }
    events.removeAll { event in
      switch event {
      case .added(id, _), .updated(id, _), .removed(id, _): true
      default: false
      }
    }
  }

  /// Learns where a service listens, until `deadline`: exactly one event follows.
  package mutating func resolve(
    _ instance: Name, deadline: Instant, at now: Instant
  ) -> ResolveID {
    let resolver = Resolver(
      id: ResolveID(number: makeNumber()), instance: instance, deadline: deadline)
    resolvers.append(resolver)
    for key in resolver.keys { open(key, at: now) }
    evaluateResolvers(at: now)
    return resolver.id
  }

  /// Gives up: no event follows.
  package mutating func cancelResolve(_ id: ResolveID) {
    guard let index = resolvers.firstIndex(where: { $0.id == id }) else { return }
    for key in resolvers.remove(at: index).keys { close(key) }
  }

  /// The service does not answer: it is asked for at once, and goes in ten seconds unless it
  /// is heard of again (RFC 6762 §10.4).
  package mutating func reconfirm(_ instance: Name, at now: Instant) {
    for browse in browses where browse.found[instance] != nil {
      inquiries[browse.key]?.restart(at: now)
      for link in links {
        let place = RecordCache.Place(interface: link.index, key: browse.key)
        cache.doubt(place, for: Self.doubtPatience, at: now) { $0.data == .pointer(instance) }
      }
    }
    for type in [RecordType.srv, .txt] {
      for link in links {
        let place = RecordCache.Place(interface: link.index, key: RecordKey(instance, type))
        cache.doubt(place, for: Self.doubtPatience, at: now) { _ in true }
      }
    }
    handleTimeout(at: now)
  }

  /// Tells of an interface or of its new addresses: everything is asked for again there.
  package mutating func setLink(_ link: Link, at now: Instant) {
    if let index = links.firstIndex(where: { $0.index == link.index }) {
      let isSame = links[index].isSame(as: link)
      links[index] = link
      guard !isSame else { return }
    } else {
      links.append(link)
      links.sort { $0.index < $1.index }
    }
    let start = now.advanced(by: generator.duration(in: Inquiry.firstDelay))
    for key in inquiries.keys { inquiries[key]?.restart(at: start) }
  }

  /// An interface is gone, and with it what was known from there.
  package mutating func removeLink(_ index: UInt32, at now: Instant) {
    links.removeAll { $0.index == index }
    for (place, record) in cache.removeAll(on: index) {
      lost(record, on: place.interface, at: now)
    }
  }

  private mutating func open(_ key: RecordKey, at now: Instant) {
    guard inquiries[key] == nil else {
      inquiries[key]?.users += 1
      return
    }
    let start = now.advanced(by: generator.duration(in: Inquiry.firstDelay))
    var inquiry = Inquiry(key, order: makeNumber(), start: start)
    if isAnswered(key) { inquiry.rest() }
    inquiries[key] = inquiry
  }

  private mutating func close(_ key: RecordKey) {
    inquiries[key]?.users -= 1
    if inquiries[key]?.users == 0 { inquiries[key] = nil }
  }

  /// Whether the whole answer is known: a unique record set comes whole (RFC 6762 §10.2).
  private func isAnswered(_ key: RecordKey) -> Bool {
    links.contains { link in
      cache.current(at: RecordCache.Place(interface: link.index, key: key))
        .contains { $0.record.flushesCache }
    }
  }
}

// MARK: - Messages

extension Querier {
  /// Takes in what a response says, whoever asked for it.
  package mutating func handleResponse(
    _ response: Message, from datagram: Datagram, at now: Instant
  ) {
    guard links.contains(where: { $0.index == datagram.interface }) else { return }
    if !datagram.destination.address.isMulticast {
      guard isExpected(response, from: datagram, at: now) else { return }
    }
    let records = (response.answers + response.additionals).filter {
      $0.recordClass == Record.internet && $0.type != .nsec
    }
    let interface = datagram.interface
    let wanted = inquiries
    for record in records {
      _ = cache.insert(
        record, on: interface, at: now, jitter: Int64.random(in: 0...20, using: &generator),
        isWanted: { wanted[$0] != nil })
    }
    for record in records where record.flushesCache && record.timeToLive > 0 {
      inquiries[record.key]?.rest()
    }
    for record in records where record.timeToLive > 0 { found(record, on: interface, at: now) }
    evaluateResolvers(at: now)
  }

  /// Unicast answers count only for a short time after a question that asked for them.
  private func isExpected(_ response: Message, from datagram: Datagram, at now: Instant) -> Bool {
    guard let link = links.first(where: { $0.index == datagram.interface }),
      link.isOnLink(datagram.source.address)
    else { return false }
    return response.answers.contains { record in
      guard let asked = askedUnicast[record.key] else { return false }
      return now - asked <= Self.unicastWindow
    }
  }

  /// Time has passed: asks what is due, drops what is too old.
  package mutating func handleTimeout(at now: Instant) {
    let wanted = inquiries
    while let event = cache.handleTimeout(at: now, isWanted: { wanted[$0] != nil }) {
      switch event {
      case .refresh(let place): inquiries[place.key]?.refresh(at: now)
      case .expired(let place, let record): lost(record, on: place.interface, at: now)
      }
    }
    ask(at: now)
    evaluateResolvers(at: now)
  }

  private mutating func ask(at now: Instant) {
    guard !links.isEmpty else { return }
    let due = inquiries.values.filter { $0.next.map { $0 <= now } ?? false }
      .sorted { $0.order < $1.order }
    guard !due.isEmpty else { return }
    askedUnicast = askedUnicast.filter { now - $0.value <= Self.unicastWindow }
    let questions = due.map { inquiry in
      let wantsUnicast = asksUnicast && inquiry.isFirst
      if wantsUnicast { askedUnicast[inquiry.key] = now }
      return Question(inquiry.key.name, inquiry.key.type, wantsUnicast: wantsUnicast)
    }
    for inquiry in due { inquiries[inquiry.key]?.asked(at: now) }
    for link in links {
      let known = due.flatMap { knownAnswers($0.key, on: link.index, at: now) }
      for payload in Self.queries(questions, knownAnswers: known) {
        for group in link.groups {
          outbox.append(
            Outgoing(payload: payload, destination: group, interface: link.index))
        }
      }
    }
  }

  /// The shared answers that need not be repeated: more than half of their life is left
  /// (RFC 6762 §7.1).
  private func knownAnswers(_ key: RecordKey, on interface: UInt32, at now: Instant) -> [Record] {
    let place = RecordCache.Place(interface: interface, key: key)
    return cache.entries(at: place).compactMap { entry in
      let left = now.duration(to: entry.expires)
      guard !entry.record.flushesCache,
        left > .seconds(Int64(min(entry.record.timeToLive, TimeToLive.ceiling))) / 2
      else { return nil }
      var record = entry.record
      record.timeToLive = UInt32(clamping: left.components.seconds)
      return record
    }
  }

  /// Queries within the limit: known answers that do not fit follow in further packets, and
  /// all but the last say so (RFC 6762 §7.2).
  static func queries(_ questions: [Question], knownAnswers: [Record]) -> [[UInt8]] {
    var messages: [[UInt8]] = []
    var writer = MessageWriter(id: 0, flags: 0, limit: Message.maximumSentLength)
    for question in questions where !writer.append(question) {
      messages.append(writer.bytes)
      writer = MessageWriter(id: 0, flags: 0, limit: Message.maximumSentLength)
      _ = writer.append(question)
    }
    for record in knownAnswers where !writer.append(record, to: .answer) {
      writer.markTruncated()
      messages.append(writer.bytes)
      writer = MessageWriter(id: 0, flags: 0, limit: Message.maximumSentLength)
      _ = writer.append(record, to: .answer)
    }
    return messages + [writer.bytes]
  }
}

// MARK: - Finding and losing

extension Querier {
  /// A record is there: tell the browsings that it concerns.
  private mutating func found(_ record: Record, on interface: UInt32, at now: Instant) {
    for index in browses.indices {
      switch record.data {
      case .pointer(let name) where record.key == browses[index].key:
        add(name, to: index, on: interface, at: now)
      case .text: refreshText(of: record.name, in: index)
      default: break
      }
    }
  }

  private mutating func add(
    _ name: Name, to index: Int, on interface: UInt32, at now: Instant
  ) {
    if var service = browses[index].found[name] {
      guard !service.interfaces.contains(interface) else { return }
      service.interfaces = (service.interfaces + [interface]).sorted()
      browses[index].found[name] = service
      return
    }
    guard browses[index].order.count < Browse.limit else { return }
    var service = FoundService(
      name: name, text: nil, interfaces: [interface],
      instance: name.prefix(before: browses[index].key.name))
    service.text = text(of: service)
    browses[index].found[name] = service
    browses[index].order.append(name)
    open(RecordKey(name, .txt), at: now)
    events.append(.added(browses[index].id, service))
  }

  private mutating func refreshText(of name: Name, in index: Int) {
    guard var service = browses[index].found[name], let text = text(of: service),
      text != service.text
    else { return }
    service.text = text
    browses[index].found[name] = service
    events.append(.updated(browses[index].id, service))
  }

  /// The strings as the first interface that has some tells them.
  private func text(of service: FoundService) -> TXTRecord? {
    for interface in service.interfaces {
      if case .text(let bytes) = Resolver.newest(cache, interface, RecordKey(service.name, .txt)) {
        return TXTRecord(decoding: bytes)
      }
    }
    return nil
  }

  /// A record is gone: tell the browsings that it concerns, and ask again where it is wanted.
  private mutating func lost(_ record: Record, on interface: UInt32, at now: Instant) {
    if record.flushesCache, inquiries[record.key] != nil, !isAnswered(record.key) {
      inquiries[record.key]?.restart(
        at: now.advanced(by: generator.duration(in: Inquiry.firstDelay)))
    }
    guard case .pointer(let name) = record.data else { return }
    for index in browses.indices where browses[index].key == record.key {
      guard var service = browses[index].found[name] else { continue }
      service.interfaces.removeAll { $0 == interface }
      browses[index].found[name] = service
      guard service.interfaces.isEmpty else { continue }
      browses[index].remove(name)
      close(RecordKey(name, .txt))
      events.append(.removed(browses[index].id, service))
    }
  }

  private mutating func evaluateResolvers(at now: Instant) {
    for id in resolvers.map(\.id) {
      guard let index = resolvers.firstIndex(where: { $0.id == id }) else { continue }
      let before = resolvers[index].keys.count
      let resolution = resolvers[index].evaluate(cache, on: links, at: now)
      let resolver = resolvers[index]
      for key in resolver.keys[before...] { open(key, at: now) }
      guard resolution != nil || now >= resolver.deadline else { continue }
      cancelResolve(id)
      events.append(resolution.map { .resolved(id, $0) } ?? .unresolved(id))
    }
  }
}
