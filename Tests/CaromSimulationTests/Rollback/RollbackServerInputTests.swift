import CaromCore
import Testing

@testable import CaromSimulation

/// Which inputs a server accepts, and what it reports of them; WireFormat, Rollback play.
@Suite struct RollbackServerInputTests {
  private var server = RollbackServer(
    Swarm(count: 2, seed: 1), players: 2, rate: 50, at: .zero, start: Tick(1_000))
  private let number: Int

  init() {
    number = server.addPlayer(0)
    _ = poll()
  }

  /// Neutral inputs of player 0, without context. All ticks are counted from the server's first
  /// tick, 1,000.
  private func makeInputs(
    _ first: Int64, _ count: Int, needing needed: Int64 = 0
  ) -> RollbackPacket {
    .neutralInputs(UInt64(1_000 + first), count, needing: UInt64(1_000 + needed))
  }

  private mutating func receive(_ packet: RollbackPacket, at now: Instant = .zero) throws {
    try server.receive(packet, from: number, at: now)
  }

  private mutating func poll() -> [RollbackMessage] {
    var messages: [RollbackMessage] = []
    while let (_, packet) = server.pollPacket() { messages.append(packet.message) }
    return messages
  }

  /// The header of the next inputs for the player.
  private mutating func pollHeader() throws -> InputHeader {
    let duePacket = server.pollPacket()?.packet
    return try #require(duePacket).inputHeader()
  }

  private var end: Int64 { Tick(1_000).distance(to: server.broadcaster.sentInputs[0].end) }
  private var first: Int64 { Tick(1_000).distance(to: server.broadcaster.sentInputs[0].start) }

  @Test mutating func `inputs are stored for less than 120 ticks ahead`() throws {
    try receive(makeInputs(0, 127))
    #expect(end == 120)
    server.advance()
    try receive(makeInputs(110, 30))
    #expect(end == 121 && first == 0)
  }

  @Test(arguments: [(119, true), (120, false), (1, true), (500, false)] as [(Int64, Bool)])
  mutating func `inputs after a gap restart a player's inputs less than 120 ticks ahead`(
    offset: Int64, isAccepted: Bool
  ) throws {
    for _ in 0..<5 { server.advance() }
    try receive(makeInputs(5 + offset, 3, needing: 5))
    #expect(first == (isAccepted ? 5 + offset : 0))
    #expect(end == (isAccepted ? min(5 + offset + 3, 125) : 0))
    _ = poll()
    server.advance()
    // The client learns which input the server needs next.
    let header = try pollHeader()
    #expect(header.acknowledged == (isAccepted ? end - 5 : 0))
  }

  @Test mutating func `inputs after a gap with context are dropped`() throws {
    var header = InputHeader(first: Tick(1_002), count: 1, acknowledged: Tick(1_000))
    header.context = 1
    try receive(RollbackPacket(.inputs, header.encoded + [0]))
    #expect(first == 0 && end == 0)
  }

  @Test mutating func `invalid inputs change nothing`() throws {
    for bytes in [[1], [0, 0], [0xFF]] as [[UInt8]] {
      for first in [0, 5] as [Int64] {
        let header = makeInputs(first, 1).bytes.dropLast()
        #expect(throws: DecodeError.self) {
          try receive(RollbackPacket(.inputs, header + bytes))
        }
      }
    }
    #expect(throws: DecodeError.invalid(what: "acknowledged tick")) {
      try receive(makeInputs(0, 1, needing: 1))
    }
    #expect(throws: DecodeError.invalid(what: "acknowledged tick")) {
      try receive(makeInputs(7, 1, needing: 1))
    }
    #expect(first == 0 && end == 0)
    server.advance()
    #expect(server.missedInputs(of: 0) == 0)
    try receive(makeInputs(0, 1, needing: 1))
    #expect(end == 1)
  }

  @Test mutating func `ticks count as missed once the player has sent an input`() throws {
    for _ in 0..<3 { server.advance() }
    #expect(server.missedInputs(of: 0) == 0)
    try receive(makeInputs(0, 5))
    for _ in 0..<2 { server.advance() }
    #expect(server.missedInputs(of: 0) == 0)
    for _ in 0..<4 { server.advance() }
    #expect(server.missedInputs(of: 0) == 4 && server.missedInputs(of: 1) == 0)
    server.removePlayer(0)
    server.advance()
    #expect(server.missedInputs(of: 0) == 0)
  }

  @Test mutating func `every fourth tick the mean margin and its deviation are reported`() throws {
    var timings: [InputHeader.Timing?] = []
    // Half a tick has passed, so that an input for tick 3 is 3.5 ticks early, and so on.
    let half = Instant.zero + .milliseconds(10)
    try receive(makeInputs(0, 4), at: half)
    try receive(makeInputs(0, 10), at: half)
    try receive(makeInputs(0, 10), at: half)
    for _ in 0..<6 {
      server.advance()
      timings.append(try pollHeader().timing)
    }
    // The margins 3.5 and 9.5 have the mean 6.5. The first deviation is 0, the second 6.
    let report = InputHeader.Timing(lead: 48, advantage: 104)
    #expect(timings == [report, nil, nil, nil, report, nil])
  }

  @Test mutating func `later arrivals count a sixteenth, and late ones are negative`() throws {
    for index in 0..<400 {
      try receive(makeInputs(Int64(index), 1, needing: Int64(index)))
      server.advance()
      _ = poll()
    }
    #expect(server.seats[0].arrivalMargin == 1 && server.seats[0].deviation == 0)
    for _ in 0..<17 { server.advance() }
    try receive(makeInputs(400, 2, needing: 400))
    // Tick 417 is next, and tick 402 the first without an input: 16 ticks less than before.
    #expect(server.seats[0].arrivalMargin == 0)
    #expect(server.seats[0].deviation == 1)
    try receive(makeInputs(402, 1, needing: 400))
    #expect(server.seats[0].arrivalMargin == -14.0 / 16)
    #expect(abs(server.seats[0].deviation - (1 + 13.0 / 16)) < 1e-12)
  }

  @Test mutating func `a server's own input is merged with that of the player, once`() throws {
    server.setInput(Swarm.Input(push: 1, wish: .spawn), for: 0)
    server.setInput(Swarm.Input(push: 2), for: 0)
    server.setInput(Swarm.Input(push: 9, wish: .spawn), for: 1)
    try receive(makeInputs(0, 3))
    for _ in 0..<2 { server.advance() }
    let applied = (0...1).map { tick in
      (0...1).map { server.broadcaster.input(for: $0, at: Tick(1_000 + UInt64(tick))) }
    }
    #expect(applied[0] == [.init(push: 0, wish: .spawn), .init(push: 9, wish: .spawn)])
    #expect(applied[1] == [.init(), .init()])
  }

  @Test mutating func `after a player was removed, its input is neutral and its place is free`()
    throws
  {
    var coder = InputCoder<Swarm.Input>()
    var header = InputHeader(first: Tick(1_000), count: 9, acknowledged: Tick(1_000))
    header.context = 0
    var writer = PacketWriter()
    header.encode(into: &writer)
    var bits = BitWriter()
    coder.encode(9, into: &writer, bits: &bits) { _ in Swarm.Input(push: 7) }
    bits.finish(&writer)
    try receive(RollbackPacket(.inputs, writer.bytes))
    server.advance()
    server.setInput(Swarm.Input(push: 5), for: 0)
    server.removePlayer(0)
    server.removePlayer(0)
    server.advance()
    #expect(server.broadcaster.input(for: 0, at: Tick(1_000)) == Swarm.Input(push: 7))
    #expect(server.broadcaster.input(for: 0, at: Tick(1_001)) == Swarm.Input())
    // Messages of the client that was removed are ignored.
    try receive(makeInputs(0, 9, needing: 99))
    #expect(poll() == [])
    #expect(server.addSpectator() == number)
  }

  @Test mutating func `ticks are due at the server's rate, and its events are those of one step`() {
    #expect(server.nextTick == .zero + .milliseconds(20))
    #expect(server.takeDueTicks(at: .zero + .milliseconds(59)) == 2)
    #expect(server.nextTick == .zero + .milliseconds(60))
    server.setInput(Swarm.Input(push: 0, wish: .spawn), for: 1)
    server.advance()
    #expect(server.events == [.born(3)] && server.tick == Tick(1_001))
    server.advance()
    #expect(server.events == [])
  }
}
