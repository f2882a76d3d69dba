import CaromCore

/// Queries name servers (RFC 1035, RFC 7766) and updates their zones (RFC 2136). Each attempt uses
/// a new random ID and a new port, and only responses from the queried server to the query's
/// question are accepted (RFC 5452). An update's response must be signed as well (RFC 8945).
///
/// The resolver is polled. After each call, carry out the steps from `pollTransmit`, handle the
/// events from `pollEvent`, and call `handleTimeout` at `nextTimeout`.
package struct UnicastResolver: Sendable {
  /// The maximum number of concurrent queries. Each query holds a socket.
  package static let queryLimit = 256
  /// The maximum number of servers that are tried for a query. Further servers are ignored.
  package static let serverLimit = 8

  /// An input or output operation for the caller to perform.
  package enum Transmit: Hashable, Sendable {
    /// Send a datagram from a new socket, whose port the system chooses at random.
    case datagram(UnicastFlow, [UInt8], to: Endpoint)
    /// Open a TCP connection and send the bytes.
    case stream(UnicastFlow, [UInt8], to: Endpoint)
    /// Close the attempt's socket or connection.
    case close(UnicastFlow)
  }

  /// The result of a query. Each query ends with exactly one event.
  package enum Event: Hashable, Sendable {
    case answered(UnicastQueryID, UnicastAnswer)
    /// A server has made an update, at the given time of its own clock in seconds since the
    /// beginning of 1970.
    case updated(UnicastQueryID, serverTime: UInt64)
    case failed(UnicastQueryID, UnicastError)
  }

  /// The number of received datagrams that were ignored, for each reason.
  package struct Counters: Hashable, Sendable {
    /// The number of datagrams from an endpoint other than the queried server.
    package var wrongSource = 0
    /// The number of datagrams that do not answer the query, because they are forged, late or
    /// malformed.
    package var unexpected = 0
  }

  private struct Entry: Sendable {
    let id: UnicastQueryID
    var query: UnicastQuery
  }

  private var generator: any RandomNumberGenerator & Sendable
  private var entries: [Entry] = []
  private var outbox = Deque<Transmit>()
  private var events = Deque<Event>()
  private var nextNumber: UInt64 = 0
  /// The counters of ignored datagrams.
  package private(set) var counters = Counters()

  /// Creates a resolver. `generator` supplies the IDs and must be unpredictable to others.
  package init(generator: some RandomNumberGenerator & Sendable) { self.generator = generator }

  /// The number of running queries.
  package var openQueries: Int { entries.count }

  /// Returns an id for a query that has not started.
  package mutating func makeQueryID() -> UnicastQueryID { UnicastQueryID(number: makeNumber()) }

  /// Starts a query and returns its id. The servers are queried one after another until one
  /// answers, all have failed, or `deadline` passes. Throws an error if the query cannot start.
  package mutating func ask(
    _ key: RecordKey, of servers: [Endpoint], deadline: Instant, at now: Instant
  ) throws(UnicastError) -> UnicastQueryID {
    let id = makeQueryID()
    try ask(key, as: id, of: servers, deadline: deadline, at: now)
    return id
  }

  /// Starts a query with an id from `makeQueryID`.
  package mutating func ask(
    _ key: RecordKey, as id: UnicastQueryID, of servers: [Endpoint], deadline: Instant,
    at now: Instant
  ) throws(UnicastError) {
    try start(.records(key), about: key.name, as: id, of: servers, deadline: deadline, at: now)
  }

  /// Starts an update of a zone with an id from `makeQueryID`. `time` is the time on the wall clock
  /// in seconds since the beginning of 1970, by which the update is signed with `key`.
  package mutating func update(
    _ update: DynamicUpdate, signedWith key: TransactionKey, time: UInt64, as id: UnicastQueryID,
    of servers: [Endpoint], deadline: Instant, at now: Instant
  ) throws(UnicastError) {
    let subject = UnicastQuery.Subject.update(
      SignedUpdate(update, key: key, time: time, at: now))
    try start(subject, about: update.zone, as: id, of: servers, deadline: deadline, at: now)
  }

  private mutating func start(
    _ subject: UnicastQuery.Subject, about name: Name, as id: UnicastQueryID,
    of servers: [Endpoint], deadline: Instant, at now: Instant
  ) throws(UnicastError) {
    guard !name.isLinkLocal else { throw .multicastName }
    guard !servers.isEmpty else { throw .noServers }
    guard entries.count < Self.queryLimit else { throw .tooManyQueries }
    let chosen = Array(servers.prefix(Self.serverLimit))
    entries.append(
      Entry(id: id, query: UnicastQuery(subject, servers: chosen, deadline: deadline)))
    let index = entries.count - 1
    advance(index, at: now) { $0.next(at: now) }
  }

  /// Cancels a query. No event is reported for it.
  package mutating func cancel(_ id: UnicastQueryID) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    if let flow = entries.remove(at: index).query.attempt?.flow { outbox.append(.close(flow)) }
  }

  /// Handles a datagram that an attempt's socket received.
  package mutating func handleDatagram(
    _ payload: [UInt8], from source: Endpoint, on flow: UnicastFlow, at now: Instant
  ) {
    guard let index = index(of: flow) else { return }
    guard entries[index].query.attempt?.server == source else {
      counters.wrongSource += 1
      return
    }
    let isUsed = advance(index, at: now) { $0.handleDatagram(payload, at: now) }
    if !isUsed { counters.unexpected += 1 }
  }

  /// Handles bytes that an attempt's connection received.
  package mutating func handleBytes(_ bytes: [UInt8], on flow: UnicastFlow, at now: Instant) {
    guard let index = index(of: flow) else { return }
    advance(index, at: now) { $0.handleBytes(bytes, at: now) }
  }

  /// Handles the end of an attempt whose socket or connection could not be opened or was closed.
  package mutating func handleClosed(_ flow: UnicastFlow, at now: Instant) {
    guard let index = index(of: flow) else { return }
    advance(index, at: now) { $0.handleClosed(at: now) }
  }

  /// Handles all time limits that have passed.
  package mutating func handleTimeout(at now: Instant) {
    for id in entries.map(\.id) {
      guard let index = entries.firstIndex(where: { $0.id == id }) else { continue }
      advance(index, at: now) { $0.handleTimeout(at: now) }
    }
  }

  /// Removes and returns the next operation to perform, or returns nil if there is none.
  package mutating func pollTransmit() -> Transmit? {
    outbox.popFirst()
  }

  /// Removes and returns the next event, or returns nil if there is none.
  package mutating func pollEvent() -> Event? { events.popFirst() }

  /// The next time at which `handleTimeout` must be called, or nil if no query is running.
  package var nextTimeout: Instant? { entries.map(\.query.nextTimeout).min() }
}

// MARK: - Steps

extension UnicastResolver {
  private func index(of flow: UnicastFlow) -> Int? {
    entries.firstIndex { $0.query.attempt?.flow == flow }
  }

  private mutating func makeNumber() -> UInt64 {
    defer { nextNumber += 1 }
    return nextNumber
  }

  /// Passes an event to the query at `index`. If the query then has a next step, closes its
  /// previous socket or connection, takes the step and returns true.
  @discardableResult
  private mutating func advance(
    _ index: Int, at now: Instant, _ event: (inout UnicastQuery) -> UnicastQuery.Step?
  ) -> Bool {
    let flow = entries[index].query.attempt?.flow
    guard let step = event(&entries[index].query) else { return false }
    if let flow { outbox.append(.close(flow)) }
    switch step {
    case .ask(let server, let isStream): ask(server, overStream: isStream, for: index, at: now)
    case .finish(.success(.answer(let answer))):
      events.append(.answered(entries.remove(at: index).id, answer))
    case .finish(.success(.updated(let time))):
      events.append(.updated(entries.remove(at: index).id, serverTime: time))
    case .finish(.failure(let error)):
      events.append(.failed(entries.remove(at: index).id, error))
    }
    return true
  }

  private mutating func ask(
    _ server: Endpoint, overStream isStream: Bool, for index: Int, at now: Instant
  ) {
    let flow = UnicastFlow(number: makeNumber())
    let id = UInt16.random(in: .min ... .max, using: &generator)
    entries[index].query.begin(flow, id: id, to: server, overStream: isStream, at: now)
    let payload = entries[index].query.payload(at: now)
    if isStream {
      let length = [UInt8(payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
      outbox.append(.stream(flow, length + payload, to: server))
    } else {
      outbox.append(.datagram(flow, payload, to: server))
    }
  }
}
