import CaromCore
import CaromDNS
import Testing

@Suite struct UnicastResolverTests {
  typealias Double = UnicastServerDouble

  @Test func `R86: each try has a flow of its own and a random id`() throws {
    var ids: Set<UInt16> = []
    var flows: Set<UnicastFlow> = []
    var double = Double()
    for _ in 0..<1000 {
      let id = try double.ask()
      double.with { resolver, _ in resolver.cancel(id) }
    }
    for asked in double.asked {
      ids.insert(asked.message.id)
      flows.insert(asked.flow)
      #expect(asked.message.flags == 0x0100)
      #expect(asked.message.questions == [Question(Double.key.name, .ptr)])
    }
    #expect(flows.count == 1000)
    // 1,000 of 65,536 drawn at random: about 8 meet.
    #expect(ids.count > 970)
    let spread = (0..<16).map { bit in ids.filter { $0 >> bit & 1 == 1 }.count }
    #expect(spread.allSatisfy { (400...600).contains($0) }, "\(spread)")
    #expect(double.closed == double.asked.map(\.flow))
  }

  @Test func `R86: only the asked server's answer to the asked question counts`() throws {
    var double = Double()
    try double.ask()
    let records = try Double.makePointers(1)
    let server = Double.servers[0]
    try double.reply(try double.answer(records), from: Double.servers[1])
    try double.reply(
      try double.answer(records), from: Endpoint(server.address, port: server.port + 1))
    #expect(double.resolver.counters.foreign == 2)
    let forgeries: [(inout Message) -> Void] = [
      { $0.id &+= 1 }, { $0.flags &= 0x7FFF }, { $0.flags |= 0x2800 }, { $0.questions = [] },
      { $0.questions = [Question("_game._tcp.example.org", .ptr)] },
      { $0.questions = [Question(Double.key.name, .srv)] },
      { $0.questions[0].questionClass = 3 }, { $0.questions += $0.questions },
    ]
    for forge in forgeries { try double.reply(try double.answer(records, forge)) }
    try double.reply(bytes: [1, 2, 3])
    #expect(double.resolver.counters.unexpected == forgeries.count + 1)
    #expect(double.events.isEmpty && double.asked.count == 1)
    try double.reply(try double.answer(records))
    #expect(try double.onlyAnswer().records == records)
    #expect(double.resolver.openQueries == 0 && double.closed == [double.asked[0].flow])
  }

  @Test func `R86: an answer that was cut off is asked for again over TCP`() throws {
    var double = Double()
    try double.ask()
    let records = try Double.makePointers(300)
    var cut = try double.answer(records) { $0.isTruncated = true }.encoded()
    cut.removeLast(cut.count - 512)
    try double.reply(bytes: cut)
    #expect(double.asked.map(\.isStream) == [false, true])
    #expect(double.asked[1].server == Double.servers[0])
    try double.reply(bytes: try double.answer(records).encoded(), piece: 7)
    #expect(try double.onlyAnswer().records == records)
    #expect(double.closed == double.asked.map(\.flow))
  }

  @Test func `R86: a thousand services of a type fit one answer over TCP`() throws {
    var double = Double()
    try double.ask()
    try double.reply(try double.answer { $0.isTruncated = true })
    let records = try Double.makePointers(1200)
    let bytes = try double.answer(records).encoded()
    #expect(bytes.count > Message.maximumLength && bytes.count < Message.maximumStreamLength)
    try double.reply(bytes: bytes)
    #expect(try double.onlyAnswer().records.count == 1200)
  }

  @Test func `a connection that breaks, or says what was not asked, strikes the server`() throws {
    for fails in [true, false] {
      var double = Double()
      try double.ask()
      try double.reply(try double.answer { $0.isTruncated = true })
      if fails {
        let flow = double.asked[1].flow
        double.with { $0.handleClosed(flow, at: $1) }
      } else {
        try double.reply(try double.answer { $0.id &+= 1 })
      }
      #expect(double.asked.map(\.server) == [0, 0, 1].map { Double.servers[$0] })
      #expect(!double.asked[2].isStream)
      try double.reply(try double.answer(code: 5))
      #expect(double.errors == [.refused])
    }
  }

  @Test func `silent servers are asked in turn, each round waits twice as long`() throws {
    var double = Double()
    try double.ask(within: .seconds(20))
    while double.skip() {}
    let expected: [(Int64, Int)] = [(0, 0), (1, 1), (2, 0), (4, 1), (6, 0), (10, 1), (14, 0)]
    #expect(double.asked.map(\.at) == expected.map { Instant.zero + .seconds($0.0) })
    #expect(double.asked.map(\.server) == expected.map { Double.servers[$0.1] })
    #expect(double.errors == [.timedOut] && double.now == .zero + .seconds(20))
    #expect(Set(double.asked.map(\.message.id)).count == expected.count)
    #expect(double.closed == double.asked.map(\.flow))
  }

  @Test func `a late answer to an earlier try is not used`() throws {
    var double = Double()
    try double.ask()
    let late = try double.answer(try Double.makePointers(1)).encoded()
    let first = double.asked[0]
    _ = double.skip()
    double.with { $0.handleDatagram(late, from: first.server, on: first.flow, at: $1) }
    #expect(double.events.isEmpty)
  }

  @Test func `tries are bounded, whatever time is left`() throws {
    var double = Double()
    try double.ask(within: .seconds(100_000))
    while double.skip() {}
    #expect(double.asked.count == 16 && double.errors == [.timedOut])
  }

  @Test(arguments: [(UInt16(2), UnicastError.serverFailure), (5, .refused), (1, .serverFailure)])
  func `a server that declines is not asked again`(code: UInt16, error: UnicastError) throws {
    var double = Double()
    try double.ask()
    try double.reply(try double.answer(code: code))
    #expect(double.asked.map(\.server) == Double.servers)
    try double.reply(try double.answer(code: code))
    #expect(double.errors == [error])
  }

  @Test func `a name that is not there is an error; one without such records is not`() throws {
    var double = Double()
    try double.ask()
    try double.reply(try double.answer(code: 3))
    #expect(double.errors == [.nameError] && double.asked.count == 1)
    var other = Double()
    try other.ask()
    try other.reply(try other.answer())
    #expect(try other.onlyAnswer().records.isEmpty)
  }

  @Test func `R11: names of the link never go to servers`() throws {
    var double = Double()
    for name: Name in ["maya.local", "1.2.254.169.in-addr.arpa", "1.0.8.e.f.ip6.arpa"] {
      #expect(throws: UnicastError.multicastName) { try double.ask(RecordKey(name, .ptr)) }
    }
    #expect(throws: UnicastError.noServers) { try double.ask(of: []) }
    #expect(double.asked.isEmpty)
  }

  @Test func `questions and servers have limits`() throws {
    var double = Double()
    for _ in 0..<UnicastResolver.queryLimit { try double.ask() }
    #expect(throws: UnicastError.tooManyQueries) { try double.ask() }
    var other = Double()
    let many = (1...20).map { Endpoint(.v4(0x0A00_0000 | UInt32($0)), port: 53) }
    try other.ask(of: many)
    while other.skip(), other.asked.count < 10 {}
    #expect(Set(other.asked.map(\.server)).count == UnicastResolver.serverLimit)
  }

  @Test func `whatever comes, each question ends once and leaves nothing open`() throws {
    #if DEBUG
      let rounds = 500
    #else
      let rounds = 10_000
    #endif
    for round in 0..<rounds {
      var chance = SeededGenerator(seed: UInt64(round))
      var double = Double(seed: UInt64(round))
      try double.ask()
      while double.resolver.openQueries > 0 {
        let truncates = chance.chance(0.3)
        let message = try double.answer(
          try Double.makePointers(3), code: UInt16(chance.next() % 6)
        ) { if truncates { $0.isTruncated = true } }
        var bytes = message.encoded()
        for _ in 0..<chance.next() % 3 {
          bytes[Int(chance.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: chance.next())
        }
        try double.reply(bytes: bytes)
        if chance.chance(0.3) { _ = double.skip() }
      }
      #expect(double.events.count == 1)
      #expect(Set(double.closed) == Set(double.asked.map(\.flow)))
    }
  }
}
