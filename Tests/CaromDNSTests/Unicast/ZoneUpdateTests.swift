import CaromCore
import CaromDNS
import Testing

/// Updates of a zone through the resolver, in virtual time.
@Suite struct ZoneUpdateTests {
  typealias Fixtures = SignedFixtures

  /// A resolver with one running update, and the last request that it sent.
  private struct Harness {
    static let server = Endpoint(.v4(0x0A00_0035), port: 53)

    var resolver = UnicastResolver(generator: SeededGenerator(seed: 1))
    var now = Instant.zero
    var flow: UnicastFlow?
    var request: [UInt8] = []
    var isStream = false
    var requests = 0
    var events: [UnicastResolver.Event] = []
    let key: TransactionKey

    init(_ update: DynamicUpdate? = nil, key: TransactionKey = Fixtures.key) throws {
      self.key = key
      let id = resolver.makeQueryID()
      try resolver.update(
        try update ?? Fixtures.claim(), signedWith: key, time: Fixtures.time, as: id,
        of: [Self.server], deadline: now + .seconds(10), at: now)
      drain()
    }

    mutating func drain() {
      while let step = resolver.pollTransmit() {
        switch step {
        case .datagram(let flow, let bytes, _):
          (self.flow, request, isStream) = (flow, bytes, false)
          requests += 1
        case .stream(let flow, let bytes, _):
          (self.flow, request, isStream) = (flow, Array(bytes.dropFirst(2)), true)
          requests += 1
        case .close: break
        }
      }
      while let event = resolver.pollEvent() { events.append(event) }
    }

    /// The authentication code at the end of the request, before the ID, the error and the length
    /// of the other data.
    var code: [UInt8] { Array(request.dropLast(6).suffix(32)) }

    /// Returns a response to the last request, signed with `signer` after `change`.
    func response(
      _ responseCode: UInt16, signer: TransactionKey? = Fixtures.key, flags: UInt16 = 0,
      after seconds: Int64 = 0, _ change: (inout [UInt8]) -> Void = { _ in }
    ) -> [UInt8] {
      var message = Message(id: UInt16(request[0]) << 8 | UInt16(request[1]))
      message.flags = 0xA800 | responseCode | flags
      message.questions = [Question(Fixtures.zone, .soa)]
      var bytes = message.encoded()
      change(&bytes)
      guard let signer else { return bytes }
      // The request's code comes before the response in what a server signs.
      let time = UInt64(Int64(Fixtures.time) + seconds)
      let prefixing = SignedResponse(key: signer, request: code)
      return prefixing.sign(bytes, at: time)
    }

    mutating func reply(_ bytes: [UInt8]) throws {
      let flow = try #require(flow)
      if isStream {
        let length = [UInt8(bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)]
        resolver.handleBytes(length + bytes, on: flow, at: now)
      } else {
        resolver.handleDatagram(bytes, from: Self.server, on: flow, at: now)
      }
      drain()
    }

    mutating func advanceToTimeout() throws {
      now = max(now, try #require(resolver.nextTimeout))
      resolver.handleTimeout(at: now)
      drain()
    }

    var results: [Result<UInt64, UnicastError>] {
      events.compactMap { event in
        switch event {
        case .updated(_, let time): .success(time)
        case .failed(_, let error): .failure(error)
        case .answered: nil
        }
      }
    }
  }

  @Test func `R84: a signed success concludes the update with the server's time`() throws {
    var harness = try Harness()
    try harness.reply(harness.response(0, after: 7))
    #expect(harness.results == [.success(Fixtures.time + 7)] && harness.requests == 1)
  }

  @Test func `R84: response codes become typed errors`() throws {
    let cases: [(UInt16, UnicastError)] = [
      (6, .nameInUse), (8, .prerequisiteFailed), (7, .prerequisiteFailed), (5, .refused),
      (9, .notAuthoritative), (10, .notAuthoritative), (2, .serverFailure),
    ]
    for (code, error) in cases {
      var harness = try Harness()
      try harness.reply(harness.response(code))
      #expect(harness.results == [.failure(error)], "code \(code)")
    }
  }

  @Test func `R84: unsigned and wrongly signed successes are ignored`() throws {
    var harness = try Harness()
    try harness.reply(harness.response(0, signer: nil))
    try harness.reply(harness.response(0, signer: Fixtures.wrongKey))
    try harness.reply(harness.response(0) { $0[0] ^= 1 })
    #expect(harness.results.isEmpty && harness.resolver.openQueries == 1)
    try harness.reply(harness.response(0))
    #expect(harness.results == [.success(Fixtures.time)])
  }

  @Test func `R84: an unsigned error counts only if no signed response follows in time`() throws {
    var harness = try Harness()
    try harness.reply(harness.response(5, signer: nil))
    #expect(harness.results.isEmpty)
    try harness.reply(harness.response(0))
    #expect(harness.results == [.success(Fixtures.time)])

    harness = try Harness()
    try harness.reply(harness.response(5, signer: nil))
    try harness.advanceToTimeout()
    #expect(harness.results == [.failure(.refused)])
  }

  @Test func `R84: clocks that are 301 s apart are a typed error`() throws {
    for seconds: Int64 in [301, -301] {
      var harness = try Harness()
      try harness.reply(harness.response(0, after: seconds))
      #expect(harness.results == [.failure(.clocksDiffer(bySeconds: -seconds))])
    }
  }

  @Test func `R84: a cut answer is requested again over TCP, signed again`() throws {
    var harness = try Harness()
    let first = harness.code
    try harness.reply(harness.response(0, flags: 0x0200))
    #expect(harness.isStream && harness.requests == 2 && harness.code != first)
    try harness.reply(harness.response(0))
    #expect(harness.results == [.success(Fixtures.time)])
  }

  @Test func `R84: an update of more than 512 bytes goes over TCP`() throws {
    var update = try Fixtures.claim()
    let text = [UInt8(200)] + [UInt8](repeating: 0x61, count: 200)
    update.add("long.play.example", .text(text), timeToLive: 60)
    #expect(try !Harness(update).isStream)
    update.add("longer.play.example", .text(text), timeToLive: 60)
    var harness = try Harness(update)
    #expect(harness.isStream)
    try harness.reply(harness.response(0))
    #expect(harness.results == [.success(Fixtures.time)])
  }

  @Test func `a lost answer repeats the update with a new ID and the present time`() throws {
    var harness = try Harness()
    let first = harness.request
    try harness.advanceToTimeout()
    #expect(harness.requests == 2 && harness.request[0..<2] != first[0..<2])
    #expect(harness.now == .zero + .seconds(1))
    try harness.reply(harness.response(0, after: 1))
    #expect(harness.results == [.success(Fixtures.time + 1)])
  }

  @Test func `an unsigned error over a connection concludes the attempt at once`() throws {
    var harness = try Harness()
    try harness.reply(harness.response(0, flags: 0x0200))
    try harness.reply(harness.response(5, signer: nil))
    #expect(harness.results == [.failure(.refused)])
  }
}

/// Signs responses as a server does: the request's code comes first in what is authenticated.
struct SignedResponse {
  let key: TransactionKey
  let request: [UInt8]

  func sign(_ message: [UInt8], at time: UInt64) -> [UInt8] {
    // A key whose function authenticates the request's code before the message.
    let (request, key) = (request, key)
    let prefixed = TransactionKey(name: key.name) { message in
      key.authenticationCode(of: [0, UInt8(request.count)] + request + message)
    }
    return prefixed.sign(message, at: time).bytes
  }
}
