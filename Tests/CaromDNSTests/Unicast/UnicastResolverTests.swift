import CaromCore
import CaromDNS
import Testing

@Suite struct UnicastResolverTests {
  typealias Harness = UnicastResolverHarness

  @Test func `R86: each attempt has its own flow and a random ID`() throws {
    var ids: Set<UInt16> = []
    var flows: Set<UnicastFlow> = []
    var harness = Harness()
    for _ in 0..<1000 {
      let id = try harness.ask()
      harness.with { resolver, _ in resolver.cancel(id) }
    }
    for asked in harness.asked {
      ids.insert(asked.message.id)
      flows.insert(asked.flow)
      #expect(asked.message.flags == 0x0100)
      #expect(asked.message.questions == [Question(Harness.key.name, .ptr)])
    }
    #expect(flows.count == 1000)
    // Of 1,000 random IDs out of 65,536, about 8 are equal to another one.
    #expect(ids.count > 970)
    let spread = (0..<16).map { bit in ids.filter { $0 >> bit & 1 == 1 }.count }
    #expect(spread.allSatisfy { (400...600).contains($0) }, "\(spread)")
    #expect(harness.closed == harness.asked.map(\.flow))
  }

  @Test func `R86: only the queried server's response to the query's question is accepted`() throws
  {
    var harness = Harness()
    try harness.ask()
    let records = try Harness.makePointers(1)
    let server = Harness.servers[0]
    try harness.reply(try harness.answer(records), from: Harness.servers[1])
    try harness.reply(
      try harness.answer(records), from: Endpoint(server.address, port: server.port + 1))
    #expect(harness.resolver.counters.wrongSource == 2)
    let forgeries: [(inout Message) -> Void] = [
      { $0.id &+= 1 }, { $0.flags &= 0x7FFF }, { $0.flags |= 0x2800 }, { $0.questions = [] },
      { $0.questions = [Question("_game._tcp.example.org", .ptr)] },
      { $0.questions = [Question(Harness.key.name, .srv)] },
      { $0.questions[0].questionClass = 3 }, { $0.questions += $0.questions },
    ]
    for forge in forgeries { try harness.reply(try harness.answer(records, forge)) }
    try harness.reply(bytes: [1, 2, 3])
    #expect(harness.resolver.counters.unexpected == forgeries.count + 1)
    #expect(harness.events.isEmpty && harness.asked.count == 1)
    try harness.reply(try harness.answer(records))
    #expect(try harness.onlyAnswer().records == records)
    #expect(harness.resolver.openQueries == 0 && harness.closed == [harness.asked[0].flow])
  }

  @Test func `R86: a truncated response is requested again over TCP`() throws {
    var harness = Harness()
    try harness.ask()
    let records = try Harness.makePointers(300)
    var cut = try harness.answer(records) { $0.isTruncated = true }.encoded()
    cut.removeLast(cut.count - 512)
    try harness.reply(bytes: cut)
    #expect(harness.asked.map(\.isStream) == [false, true])
    #expect(harness.asked[1].server == Harness.servers[0])
    try harness.reply(bytes: try harness.answer(records).encoded(), piece: 7)
    #expect(try harness.onlyAnswer().records == records)
    #expect(harness.closed == harness.asked.map(\.flow))
  }

  @Test func `R86: an answer with a thousand services is received over TCP`() throws {
    var harness = Harness()
    try harness.ask()
    try harness.reply(try harness.answer { $0.isTruncated = true })
    let records = try Harness.makePointers(1200)
    let bytes = try harness.answer(records).encoded()
    #expect(bytes.count > Message.maximumLength && bytes.count < Message.maximumStreamLength)
    try harness.reply(bytes: bytes)
    #expect(try harness.onlyAnswer().records.count == 1200)
  }

  @Test func `a server that is slow over TCP has twice as long in each round`() throws {
    var harness = Harness()
    try harness.ask(of: [Harness.servers[0]], within: .seconds(60))
    while harness.events.isEmpty {
      try harness.reply(try harness.answer { $0.isTruncated = true })
      let asked = try #require(harness.asked.last)
      let answered = asked.at + .seconds(12)
      #expect(asked.isStream)
      if try #require(harness.resolver.nextTimeout) < answered {
        _ = harness.advanceToTimeout()
      } else {
        harness.now = answered
        try harness.reply(try harness.answer(try Harness.makePointers(1)))
      }
    }
    #expect(try harness.onlyAnswer().records.count == 1)
    let times = harness.asked.filter(\.isStream).map(\.at)
    #expect(times == [0, 5, 15].map { Instant.zero + .seconds($0) })
  }

  @Test func `a server whose connection fails or whose response does not match is dropped`() throws
  {
    for fails in [true, false] {
      var harness = Harness()
      try harness.ask()
      try harness.reply(try harness.answer { $0.isTruncated = true })
      if fails {
        let flow = harness.asked[1].flow
        harness.with { $0.handleClosed(flow, at: $1) }
      } else {
        try harness.reply(try harness.answer { $0.id &+= 1 })
      }
      #expect(harness.asked.map(\.server) == [0, 0, 1].map { Harness.servers[$0] })
      #expect(!harness.asked[2].isStream)
      try harness.reply(try harness.answer(code: 5))
      #expect(harness.errors == [.refused])
    }
  }

  @Test func `unresponsive servers are queried in turn with doubling time limits`() throws {
    var harness = Harness()
    try harness.ask(within: .seconds(20))
    while harness.advanceToTimeout() {}
    let expected: [(Int64, Int)] = [(0, 0), (1, 1), (2, 0), (4, 1), (6, 0), (10, 1), (14, 0)]
    #expect(harness.asked.map(\.at) == expected.map { Instant.zero + .seconds($0.0) })
    #expect(harness.asked.map(\.server) == expected.map { Harness.servers[$0.1] })
    #expect(harness.errors == [.timedOut] && harness.now == .zero + .seconds(20))
    #expect(Set(harness.asked.map(\.message.id)).count == expected.count)
    #expect(harness.closed == harness.asked.map(\.flow))
  }

  @Test func `a late response to an earlier attempt is ignored`() throws {
    var harness = Harness()
    try harness.ask()
    let late = try harness.answer(try Harness.makePointers(1)).encoded()
    let first = harness.asked[0]
    _ = harness.advanceToTimeout()
    harness.with { $0.handleDatagram(late, from: first.server, on: first.flow, at: $1) }
    #expect(harness.events.isEmpty)
  }

  @Test func `the number of attempts is limited`() throws {
    var harness = Harness()
    try harness.ask(within: .seconds(100_000))
    while harness.advanceToTimeout() {}
    #expect(harness.asked.count == 16 && harness.errors == [.timedOut])
  }

  @Test(arguments: [(UInt16(2), UnicastError.serverFailure), (5, .refused), (1, .serverFailure)])
  func `a server that declines is not queried again`(code: UInt16, error: UnicastError) throws {
    var harness = Harness()
    try harness.ask()
    try harness.reply(try harness.answer(code: code))
    #expect(harness.asked.map(\.server) == Harness.servers)
    try harness.reply(try harness.answer(code: code))
    #expect(harness.errors == [error])
  }

  @Test func `a nonexistent name is an error, and a name without such records is not`() throws {
    var harness = Harness()
    try harness.ask()
    try harness.reply(try harness.answer(code: 3))
    #expect(harness.errors == [.nameError] && harness.asked.count == 1)
    var other = Harness()
    try other.ask()
    try other.reply(try other.answer())
    #expect(try other.onlyAnswer().records.isEmpty)
  }

  @Test func `R11: link-local names are never sent to name servers`() throws {
    var harness = Harness()
    for name: Name in ["maya.local", "1.2.254.169.in-addr.arpa", "1.0.8.e.f.ip6.arpa"] {
      #expect(throws: UnicastError.multicastName) { try harness.ask(RecordKey(name, .ptr)) }
    }
    #expect(throws: UnicastError.noServers) { try harness.ask(of: []) }
    #expect(harness.asked.isEmpty)
  }

  @Test func `the numbers of queries and servers are limited`() throws {
    var harness = Harness()
    for _ in 0..<UnicastResolver.queryLimit { try harness.ask() }
    #expect(throws: UnicastError.tooManyQueries) { try harness.ask() }
    var other = Harness()
    let many = (1...20).map { Endpoint(.v4(0x0A00_0000 | UInt32($0)), port: 53) }
    try other.ask(of: many)
    while other.advanceToTimeout(), other.asked.count < 10 {}
    #expect(Set(other.asked.map(\.server)).count == UnicastResolver.serverLimit)
  }

  @Test func `with random responses, each query ends once and closes all its flows`() throws {
    #if DEBUG
      let rounds = 500
    #else
      let rounds = 10_000
    #endif
    for round in 0..<rounds {
      var chance = SeededGenerator(seed: UInt64(round))
      var harness = Harness(seed: UInt64(round))
      try harness.ask()
      while harness.resolver.openQueries > 0 {
        let truncates = chance.chance(0.3)
        let message = try harness.answer(
          try Harness.makePointers(3), code: UInt16(chance.next() % 6)
        ) { if truncates { $0.isTruncated = true } }
        var bytes = message.encoded()
        for _ in 0..<chance.next() % 3 {
          bytes[Int(chance.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: chance.next())
        }
        try harness.reply(bytes: bytes)
        if chance.chance(0.3) { _ = harness.advanceToTimeout() }
      }
      #expect(harness.events.count == 1)
      #expect(Set(harness.closed) == Set(harness.asked.map(\.flow)))
    }
  }
}
