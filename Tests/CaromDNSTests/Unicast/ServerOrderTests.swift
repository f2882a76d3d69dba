import CaromCore
import CaromDNS
import Testing

/// In which order and how long name servers are asked.
@Suite struct ServerOrderTests {
  typealias Harness = UnicastResolverHarness

  private static let three = (1...3).map { Endpoint(.v4(0x0A00_0000 | UInt32($0)), port: 53) }

  private func seconds(_ harness: Harness) -> [Int64] {
    harness.asked.map { ($0.at - .zero).components.seconds }
  }

  @Test func `after a server that declines, the next one is asked at once`() throws {
    var harness = Harness()
    try harness.ask(of: Self.three)
    try harness.reply(try harness.answer(code: 5))
    try harness.reply(try harness.answer(code: 2))
    #expect(harness.asked.map(\.server) == Self.three && harness.now == .zero)
    try harness.reply(try harness.answer(try Harness.makePointers(1)))
    #expect(try harness.onlyAnswer().records.count == 1)
  }

  @Test func `servers that declined are left out of the next round, which has the same order`()
    throws
  {
    var harness = Harness()
    try harness.ask(of: Self.three, within: .seconds(8))
    _ = harness.advanceToTimeout()
    try harness.reply(try harness.answer(code: 5))
    while harness.advanceToTimeout() {}
    let order = [0, 1, 2, 0, 2, 0].map { Self.three[$0] }
    #expect(harness.asked.map(\.server) == order)
    #expect(seconds(harness) == [0, 1, 1, 2, 4, 6])
    #expect(harness.errors == [.timedOut] && harness.now == .zero + .seconds(8))
  }

  @Test func `the error of the last server counts if all have declined`() throws {
    let codes: [UInt16?] = [5, 2, nil]
    for (first, second, error) in [
      (0, 1, .serverFailure), (1, 0, .refused), (0, 2, .unreachable), (2, 0, .refused),
    ] as [(Int, Int, UnicastError)] {
      var harness = Harness()
      try harness.ask()
      for code in [codes[first], codes[second]] {
        if let code {
          try harness.reply(try harness.answer(code: code))
        } else {
          let flow = try #require(harness.asked.last).flow
          harness.with { $0.handleClosed(flow, at: $1) }
        }
      }
      #expect(harness.errors == [error] && harness.closed == harness.asked.map(\.flow))
    }
  }

  @Test func `a server's time limit doubles with each round, from one second to eight`() throws {
    var harness = Harness()
    try harness.ask(of: [Self.three[0]], within: .seconds(40))
    while harness.advanceToTimeout() {}
    #expect(seconds(harness) == [0, 1, 3, 7, 15, 23, 31, 39])
    #expect(harness.errors == [.timedOut] && harness.now == .zero + .seconds(40))
  }

  @Test func `over TCP the time limit doubles with each round, from five seconds to forty`() throws
  {
    var harness = Harness()
    try harness.ask(of: [Self.three[0]], within: .seconds(500))
    var starts: [Int64] = []
    while harness.errors.isEmpty {
      if try #require(harness.asked.last).isStream {
        _ = harness.advanceToTimeout()
      } else {
        try harness.reply(try harness.answer { $0.isTruncated = true })
        starts.append((harness.now - .zero).components.seconds)
      }
    }
    // Sixteen attempts: eight over UDP and eight over TCP.
    #expect(starts == [0, 5, 15, 35, 75, 115, 155, 195])
    #expect(harness.errors == [.timedOut] && harness.now == .zero + .seconds(235))
  }

  @Test func `a truncated response to the last attempt is not requested over TCP`() throws {
    var harness = Harness()
    try harness.ask(of: [Self.three[0]], within: .seconds(500))
    _ = harness.advanceToTimeout()
    while harness.errors.isEmpty {
      if try #require(harness.asked.last).isStream {
        _ = harness.advanceToTimeout()
      } else {
        try harness.reply(try harness.answer { $0.isTruncated = true })
      }
    }
    #expect(harness.asked.count == 16 && harness.asked.last?.isStream == false)
    #expect(harness.errors == [.timedOut] && harness.closed == harness.asked.map(\.flow))
    #expect(harness.resolver.openQueries == 0)
  }

  @Test func `the deadline ends a query during an attempt, and a query without time fails at once`()
    throws
  {
    var harness = Harness()
    try harness.ask(within: .milliseconds(700))
    #expect(harness.resolver.nextTimeout == .zero + .milliseconds(700))
    while harness.advanceToTimeout() {}
    #expect(harness.asked.count == 1 && harness.errors == [.timedOut])
    try harness.ask(within: .zero)
    #expect(harness.asked.count == 1 && harness.errors == [.timedOut, .timedOut])
    #expect(harness.resolver.openQueries == 0 && harness.resolver.nextTimeout == nil)
  }

  @Test func `input for another transport or for an attempt that is over is ignored`() throws {
    var harness = Harness()
    try harness.ask()
    let udp = harness.asked[0]
    let records = try Harness.makePointers(1)
    let answer = try harness.answer(records).encoded()
    let framed = [UInt8(answer.count >> 8), UInt8(answer.count & 0xFF)] + answer
    harness.with { $0.handleBytes(framed, on: udp.flow, at: $1) }
    #expect(harness.events.isEmpty)
    try harness.reply(try harness.answer { $0.isTruncated = true })
    let tcp = harness.asked[1]
    var late = try harness.answer(records).encoded()
    harness.with { $0.handleDatagram(late, from: tcp.server, on: tcp.flow, at: $1) }
    late[0] ^= 1
    harness.with { $0.handleDatagram(late, from: udp.server, on: udp.flow, at: $1) }
    harness.with { $0.handleClosed(udp.flow, at: $1) }
    #expect(harness.events.isEmpty && harness.asked.count == 2)
    #expect(harness.resolver.counters.unexpected == 1)
    #expect(harness.resolver.counters.wrongSource == 0)
    try harness.reply(try harness.answer(records) { $0.isTruncated = true })
    #expect(harness.asked.count == 3 && harness.asked[2].server == Harness.servers[1])
  }

  @Test func `a cancelled query reports nothing, closes its socket and makes room`() throws {
    var harness = Harness()
    var ids: [UnicastQueryID] = []
    for _ in 0..<UnicastResolver.queryLimit { ids.append(try harness.ask()) }
    harness.with { resolver, _ in
      resolver.cancel(ids[7])
      resolver.cancel(ids[7])
    }
    #expect(harness.closed == [harness.asked[7].flow])
    #expect(harness.resolver.openQueries == UnicastResolver.queryLimit - 1)
    try harness.ask()
    while harness.advanceToTimeout() {}
    #expect(harness.events.count == UnicastResolver.queryLimit)
    #expect(Set(harness.closed).count == harness.closed.count)
  }
}
