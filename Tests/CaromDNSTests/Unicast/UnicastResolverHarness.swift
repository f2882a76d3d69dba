import CaromCore
import CaromDNS
import Testing

/// A resolver in virtual time, with a log of its operations and events.
struct UnicastResolverHarness {
  static let servers = [
    Endpoint(.v4(0x0A00_0035), port: 53), Endpoint(.v4(0x0A00_0036), port: 53),
  ]
  static let key = RecordKey("_game._tcp.example.com", .ptr)

  /// A query that the resolver sent.
  struct Asked {
    var flow: UnicastFlow
    var server: Endpoint
    var message: Message
    var isStream: Bool
    var at: Instant
  }

  var resolver: UnicastResolver
  var now = Instant.zero
  private(set) var asked: [Asked] = []
  private(set) var closed: [UnicastFlow] = []
  private(set) var events: [UnicastResolver.Event] = []

  init(seed: UInt64 = 1) { resolver = UnicastResolver(generator: SeededGenerator(seed: seed)) }

  @discardableResult
  mutating func ask(
    _ key: RecordKey = Self.key, of servers: [Endpoint] = Self.servers,
    within limit: Duration = .seconds(10)
  ) throws -> UnicastQueryID {
    defer { drain() }
    return try resolver.ask(key, of: servers, deadline: now + limit, at: now)
  }

  /// Calls the resolver and logs its operations and events.
  mutating func with(_ body: (inout UnicastResolver, Instant) -> Void) {
    body(&resolver, now)
    drain()
  }

  private mutating func drain() {
    while let step = resolver.pollTransmit() {
      switch step {
      case .close(let flow): closed.append(flow)
      case .datagram(let flow, let payload, let server):
        record(flow, server, payload, isStream: false)
      case .stream(let flow, let bytes, let server):
        #expect(Int(bytes[0]) << 8 | Int(bytes[1]) == bytes.count - 2)
        record(flow, server, Array(bytes.dropFirst(2)), isStream: true)
      }
    }
    while let event = resolver.pollEvent() { events.append(event) }
  }

  private mutating func record(
    _ flow: UnicastFlow, _ server: Endpoint, _ payload: [UInt8], isStream: Bool
  ) {
    guard let message = try? Message(decoding: payload) else {
      Issue.record("the resolver sent bytes that are not a message")
      return
    }
    asked.append(
      Asked(flow: flow, server: server, message: message, isStream: isStream, at: now))
  }

  /// Advances the time to the next timeout. Returns false if there is none.
  mutating func advanceToTimeout() -> Bool {
    guard let next = resolver.nextTimeout else { return false }
    now = max(now, next)
    with { $0.handleTimeout(at: $1) }
    return true
  }

  /// A response to the last query, altered by `change`.
  func answer(
    _ records: [Record] = [], code: UInt16 = 0, _ change: (inout Message) -> Void = { _ in }
  ) throws -> Message {
    let question = try #require(asked.last).message
    var message = Message(id: question.id, isResponse: true)
    message.flags = 0x8180 | code
    message.questions = question.questions
    message.answers = records
    change(&message)
    return message
  }

  /// Delivers a response to the last query.
  mutating func reply(_ message: Message, from source: Endpoint? = nil) throws {
    try reply(bytes: message.encoded(), from: source)
  }

  /// Delivers a response's bytes to the last query. Over a connection they follow a length and
  /// arrive in pieces.
  mutating func reply(bytes: [UInt8], from source: Endpoint? = nil, piece: Int = .max) throws {
    let last = try #require(asked.last)
    guard last.isStream else {
      return with {
        $0.handleDatagram(bytes, from: source ?? last.server, on: last.flow, at: $1)
      }
    }
    var rest = ([UInt8(bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes)[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(piece))
      rest = rest.dropFirst(part.count)
      with { $0.handleBytes(part, on: last.flow, at: $1) }
    }
  }

  /// PTR records for this many services.
  static func makePointers(_ count: Int) throws -> [Record] {
    try (0..<count).map { index in
      Record(key.name, .pointer(try key.name.prefixed(by: "table \(index)")), timeToLive: 60)
    }
  }

  /// The only event's answer.
  func onlyAnswer() throws -> UnicastAnswer {
    try #require(events.count == 1, "\(events)")
    guard case .answered(_, let answer) = events[0] else {
      Issue.record("\(events)")
      return UnicastAnswer(name: .root, records: [], additionals: [])
    }
    return answer
  }

  /// The errors of all failed queries.
  var errors: [UnicastError] {
    events.compactMap { if case .failed(_, let error) = $0 { error } else { nil } }
  }
}
