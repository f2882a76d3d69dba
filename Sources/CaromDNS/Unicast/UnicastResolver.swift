import CaromCore

/// Asks name servers (RFC 1035, RFC 7766), each time with a new id from a new port, and believes
/// only what the asked server says to the asked question (RFC 5452).
///
/// Polled: after each call carry out what `pollTransmit` gives, take what `pollEvent` gives, and
/// call `handleTimeout` at `nextTimeout`.
package struct UnicastResolver: Sendable {
  /// Questions that may be open at a time: each holds a socket.
  package static let queryLimit = 256
  /// Servers that are tried for a question; further ones are left out.
  package static let serverLimit = 8

  /// What is to be done outside.
  package enum Transmit: Hashable, Sendable {
    /// Send this from a new socket, whose port the system chooses at random.
    case datagram(UnicastFlow, [UInt8], to: Endpoint)
    /// Connect, and send this.
    case stream(UnicastFlow, [UInt8], to: Endpoint)
    /// Close the socket or the connection.
    case close(UnicastFlow)
  }

  /// How a question ended: each ends once.
  package enum Event: Hashable, Sendable {
    case answered(UnicastQueryID, UnicastAnswer)
    case failed(UnicastQueryID, UnicastError)
  }

  /// What came in and was not used, by reason.
  package struct Counters: Hashable, Sendable {
    /// From another than the asked server.
    package var foreign = 0
    /// Not the answer to the open question: forged, late, or broken.
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
  /// What was not used.
  package private(set) var counters = Counters()

  /// Asks nothing yet. Ids are drawn from `generator`, which nobody outside may guess.
  package init(generator: some RandomNumberGenerator & Sendable) { self.generator = generator }

  /// How many questions are open.
  package var openQueries: Int { entries.count }

  /// Asks the servers, one after the other, until `deadline`. Throws what cannot be asked.
  package mutating func ask(
    _ key: RecordKey, of servers: [Endpoint], deadline: Instant, at now: Instant
  ) throws(UnicastError) -> UnicastQueryID {
    guard !key.name.isLinkLocal else { throw .multicastName }
    guard !servers.isEmpty else { throw .noServers }
    guard entries.count < Self.queryLimit else { throw .tooManyQueries }
    let id = UnicastQueryID(number: makeNumber())
    let chosen = Array(servers.prefix(Self.serverLimit))
    entries.append(
      Entry(id: id, query: UnicastQuery(key, servers: chosen, deadline: deadline)))
    let index = entries.count - 1
    touch(index, at: now) { $0.next(at: now) }
    return id
  }

  /// Forgets a question: no event follows.
  package mutating func cancel(_ id: UnicastQueryID) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    if let flow = entries.remove(at: index).query.attempt?.flow { outbox.append(.close(flow)) }
  }

  /// A datagram came to a flow's socket.
  package mutating func handleDatagram(
    _ payload: [UInt8], from source: Endpoint, on flow: UnicastFlow, at now: Instant
  ) {
    guard let index = index(of: flow) else { return }
    guard entries[index].query.attempt?.server == source else {
      counters.foreign += 1
      return
    }
    let isUsed = touch(index, at: now) { $0.handleDatagram(payload, at: now) }
    if !isUsed { counters.unexpected += 1 }
  }

  /// Bytes came over a flow's connection.
  package mutating func handleBytes(_ bytes: [UInt8], on flow: UnicastFlow, at now: Instant) {
    guard let index = index(of: flow) else { return }
    touch(index, at: now) { $0.handleBytes(bytes, at: now) }
  }

  /// A flow could not be opened, or its connection ended.
  package mutating func handleClosed(_ flow: UnicastFlow, at now: Instant) {
    guard let index = index(of: flow) else { return }
    touch(index, at: now) { $0.handleClosed(at: now) }
  }

  /// Time has passed.
  package mutating func handleTimeout(at now: Instant) {
    for id in entries.map(\.id) {
      guard let index = entries.firstIndex(where: { $0.id == id }) else { continue }
      touch(index, at: now) { $0.handleTimeout(at: now) }
    }
  }

  /// The next thing to do outside; `nil` when there is none.
  package mutating func pollTransmit() -> Transmit? {
    outbox.popFirst()
  }

  /// The next event; `nil` when there is none.
  package mutating func pollEvent() -> Event? { events.popFirst() }

  /// When `handleTimeout` has something to do; `nil` for never.
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

  /// Gives one event to a query and carries out its step, if there is one: whatever was open
  /// for it before is not needed any more.
  @discardableResult
  private mutating func touch(
    _ index: Int, at now: Instant, _ event: (inout UnicastQuery) -> UnicastQuery.Step?
  ) -> Bool {
    let flow = entries[index].query.attempt?.flow
    guard let step = event(&entries[index].query) else { return false }
    if let flow { outbox.append(.close(flow)) }
    switch step {
    case .ask(let server, let isStream): ask(server, overStream: isStream, for: index, at: now)
    case .finish(.success(let answer)):
      events.append(.answered(entries.remove(at: index).id, answer))
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
    let payload = entries[index].query.message(id: id).encoded()
    if isStream {
      let length = [UInt8(payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
      outbox.append(.stream(flow, length + payload, to: server))
    } else {
      outbox.append(.datagram(flow, payload, to: server))
    }
  }
}
