import CaromCore
import Testing

@testable import CaromSimulation

/// How a client or a spectator follows a server.
@Suite struct RollbackClientStateTests {
  private func makeClient(player: Int? = 0, rate: Int = 50, delay: Int = 3) throws
    -> RollbackClient<Swarm>
  {
    var client = RollbackClient<Swarm>(player: player, rate: rate, delay: delay, at: .zero)
    try client.receive(.keyframe(of: 100), at: .zero)
    return client
  }

  @Test func `before the first keyframe there is no game`() {
    var client = RollbackClient<Swarm>(player: 0, rate: 50, at: .zero)
    #expect(client.ticksBehind == nil && client.state?.hash == nil)
    #expect(client.advance() == nil)
    #expect(client.pollEvent() == nil && client.pollDesync() == nil)
    #expect(client.pollPacket() == nil)
    #expect(client.takeDueTicks(at: .zero + .milliseconds(41)) == 2)
    #expect(client.nextTick == .zero + .milliseconds(60))
    #expect(client.keyframeCount == 0 && client.speed == 1_000_000)
  }

  @Test(arguments: [(0, 1), (-50, 1), (1, 2), (20, 2), (21, 3), (100, 6), (5_000, 20)])
  func `a player's game starts ahead of the keyframe by the round trip and a tick`(
    milliseconds: Int, ahead: UInt64
  ) throws {
    var client = RollbackClient<Swarm>(player: 0, rate: 50, at: .zero)
    client.roundTrip = .milliseconds(milliseconds)
    try client.receive(.keyframe(of: 100), at: .zero)
    #expect(client.rollback?.tick == Tick(100 + ahead))
    #expect(client.rollback?.confirmedTick == Tick(100))
    #expect(client.ticksBehind == -Int(ahead))
    #expect(client.keyframeCount == 1)
    // A spectator waits for the inputs.
    let spectator = try makeClient(player: nil)
    #expect(spectator.rollback?.tick == Tick(100) && spectator.ticksBehind == 0)
  }

  @Test(
    arguments: [(33, 2), (34, 60), (60, 60), (63, 60), (64, 60), (35, 60)] as [(Int, Int)])
  func `a spectator that is more than half a second behind catches up`(behind: Int, expected: Int)
    throws
  {
    var client = try makeClient(player: nil)
    try client.receive(.neutralInputs(100, behind, needing: 100), at: .zero)
    #expect(client.ticksBehind == behind)
    let due = client.takeDueTicks(at: .zero + .milliseconds(40))
    #expect(due == (behind > 33 ? min(behind - 3, expected) : expected))
    for _ in 0..<behind { client.advance() }
    #expect(client.ticksBehind == 0 && client.rollback?.statistics.stalls == 0)
    #expect(client.advance() == .stalled)
  }

  @Test func `a spectator's clock follows the confirmed ticks at its delay`() throws {
    for (behind, speed) in [(3, 1_000_000), (4, 1_010_000), (2, 990_000), (30, 1_050_000)] {
      var client = try makeClient(player: nil)
      try client.receive(.neutralInputs(100, behind, needing: 100), at: .zero)
      _ = client.takeDueTicks(at: .zero + .milliseconds(1))
      #expect(client.speed == speed)
    }
  }

  @Test func `a player's clock follows the server's reports`() throws {
    var client = try makeClient()
    let timing = InputHeader.Timing(lead: 16, advantage: 80)
    try client.receive(.neutralInputs(100, 1, needing: 100, timing: timing), at: .zero)
    #expect(client.lead.arrivalMargin == 5 && client.lead.buffer == 3)
    #expect(client.takeDueTicks(at: .zero + .milliseconds(1)) == 0)
    // Two ticks too early: half of that is corrected per second.
    #expect(client.speed == 980_000)
  }

  @Test(
    arguments: [(-32, 3), (-16, 2), (-15, 0), (0, 0), (16, 0), (-16_000, 60)] as [(Int16, Int)])
  func `only the first report after a keyframe makes missing ticks due at once`(
    advantage: Int16, extra: Int
  ) throws {
    var client = try makeClient()
    for _ in 0..<3 { client.advance() }
    let timing = InputHeader.Timing(lead: 0, advantage: advantage)
    for count in 1...2 {
      let inputs = RollbackPacket.neutralInputs(100, count, needing: 100, timing: timing)
      try client.receive(inputs, at: .zero)
      #expect(client.takeDueTicks(at: .zero) == (count == 1 ? extra : 0))
    }
  }

  @Test func `a game behind the confirmed tick makes up for it and for the round trip`() throws {
    var client = try makeClient()
    client.roundTrip = .milliseconds(100)
    try client.receive(.neutralInputs(100, 1, needing: 101), at: .zero)
    // Player 1's inputs of 11 ticks and the own ones of a server that did not wait.
    try client.receive(.neutralInputs(101, 10, needing: 101, bits: 0b1000_0000), at: .zero)
    #expect(client.ticksBehind == 10)
    #expect(client.takeDueTicks(at: .zero) == 16)
    #expect(client.overriddenInputs == 0)
  }

  @Test func `a replaced input is counted, and makes the clock run earlier`() throws {
    var client = try makeClient()
    for _ in 0..<3 { client.advance(with: Swarm.Input(push: 7)) }
    #expect(client.lead.buffer == 1)
    try client.receive(.neutralInputs(100, 3, needing: 104, bits: 0b1000_0000), at: .zero)
    // The first input, from before the keyframe, was neutral; two others were replaced.
    #expect(client.overriddenInputs == 2 && client.lead.buffer == 1.5)
    #expect(client.rollback?.knownInput(for: 0, at: Tick(102)) == Swarm.Input())
    client.advance(with: Swarm.Input(push: 7))
    #expect(client.rollback?.statistics.rollbacks == 1)
    #expect(abs(client.lead.buffer - 1 - 0.5 * 0.9995) < 1e-12)
  }

  @Test func `a keyframe for too few players, or an invalid one, changes nothing`() throws {
    var client = RollbackClient<Swarm>(player: 1, at: .zero)
    let one = RollbackPacket.keyframe(
      of: 100, players: 1, Swarm(count: 2, players: 1, seed: 1))
    #expect(throws: DecodeError.invalid(what: "players")) { try client.receive(one, at: .zero) }
    for players in [0, 65] as [UInt8] {
      var bytes = RollbackPacket.keyframe(of: 100).bytes
      bytes[8] = players
      #expect(throws: DecodeError.invalid(what: "players")) {
        try client.receive(.keyframe, bytes.span, at: .zero)
      }
    }
    var bytes = RollbackPacket.keyframe(of: 100).bytes
    bytes[7] = 0x40
    #expect(throws: DecodeError.invalid(what: "tick")) {
      try client.receive(.keyframe, bytes.span, at: .zero)
    }
    bytes[7] = 0x3F
    #expect(try RollbackKeyframe<Swarm>(decoding: bytes.span).tick == Tick(0x3F << 56 | 100))
    bytes = RollbackPacket.keyframe(of: 100).bytes
    bytes[9] ^= 1
    #expect(throws: DecodeError.invalid(what: "keyframe's hash")) {
      try client.receive(.keyframe, bytes.span, at: .zero)
    }
    #expect(throws: DecodeError.invalid(what: "disconnect from a server")) {
      try client.receive(RollbackPacket(.disconnect, []), at: .zero)
    }
    #expect(client.rollback == nil && client.keyframeCount == 0)
    try client.receive(.keyframe(of: 100), at: .zero)
    #expect(client.keyframeCount == 1)
  }

  @Test func `the inputs that the server has not acknowledged apply also after a new keyframe`()
    throws
  {
    var client = try makeClient()
    for push in 1...6 { client.advance(with: Swarm.Input(push: Int32(push))) }
    try client.receive(.neutralInputs(100, 1, needing: 103), at: .zero)
    try client.receive(.keyframe(of: 104), at: .zero)
    // The inputs reach up to tick 106. The game starts after the last of them.
    #expect(client.rollback?.tick == Tick(107) && client.keyframeCount == 2)
    #expect(client.rollback?.localInputs?.input(at: Tick(106)) == Swarm.Input(push: 6))
    let duePacket = client.pollPacket()
    let header = try #require(duePacket).inputHeader()
    #expect(header.first == 103 && header.count == 4 && header.acknowledged == 1)
    // A keyframe beyond all of them starts with none.
    try client.receive(.keyframe(of: 300), at: .zero)
    #expect(client.rollback?.localInputs?.start == Tick(300))
    let dueNext = client.pollPacket()
    let nextHeader = try #require(dueNext).inputHeader()
    #expect(nextHeader.first == 300 && nextHeader.count == 1 && nextHeader.context == 0)
  }

  @Test func `a desync with the server is reported once, and answered with a request`() throws {
    var client = try makeClient(player: nil, delay: 0)
    let inputs = RollbackPacket.neutralInputs(
      100, 2, needing: 102, confirmed: .init(offset: 2, hash: 7))
    try client.receive(inputs, at: .zero)
    let early = DesyncStateReport(
      tick: Tick(101), hashes: [1], description: nil, isAnswer: true)
    try client.receive(RollbackPacket(.stateReport, early.encoded), at: .zero)
    #expect(client.pollDesync() == nil)
    for _ in 0..<2 { client.advance() }
    let duePacket = client.pollPacket()
    let packet = try #require(duePacket)
    #expect(packet.message == .stateReport)
    let report = try DesyncStateReport(decoding: packet.bytes.span)
    #expect(report.tick == Tick(102) && !report.isAnswer && report.hashes.count == 3)
    #expect(report.hashes[0] == UInt32(truncatingIfNeeded: client.rollback?.state.hash ?? 0))
    var description = SimulationDescription()
    client.rollback?.state(at: Tick(102))?.describe(into: &description)
    #expect(report.differences(from: description) == [])
    var answer = DesyncStateReport(
      tick: Tick(102), hashes: [7], description: description, isAnswer: true)
    answer.entities[1].values[0] -= 4
    for _ in 0..<2 {
      try client.receive(RollbackPacket(.stateReport, answer.encoded), at: .zero)
    }
    let dueDesync = client.pollDesync()
    let desync = try #require(dueDesync)
    #expect(desync.player == nil && desync.tick == Tick(102))
    #expect(desync.differences.map(\.field) == ["x"])
    #expect(desync.differences.map { $0.mine - $0.theirs } == [4])
    #expect(client.pollDesync() == nil)
    #expect(client.pollPacket() == RollbackPacket(.keyframe, []))
    #expect(client.pollPacket()?.message != .stateReport)
  }

  @Test func `inputs are sent once per tick, from the first that the server lacks`() throws {
    var client = try makeClient()
    _ = client.pollPacket()
    #expect(client.pollPacket() == nil)
    for _ in 0..<150 { client.advance(with: Swarm.Input(push: 5)) }
    let duePacket = client.pollPacket()
    let header = try #require(duePacket).inputHeader()
    #expect(client.pollPacket() == nil)
    // The game stalls at its window of 20 ticks.
    #expect(client.rollback?.tick == Tick(120))
    #expect(header.first == 100 && header.count == 21 && header.acknowledged == 0)
    var spectator = try makeClient(player: nil)
    try spectator.receive(.neutralInputs(100, 4, needing: 100), at: .zero)
    let dueWatched = spectator.pollPacket()
    let watched = try #require(dueWatched)
    #expect(
      watched.bytes == InputHeader(first: Tick(104), count: 0, acknowledged: Tick(104)).encoded)
  }

  @Test(arguments: [240, 250, 255, 256, 260])
  func `a client whose server stands still sends what is stored`(ticks: Int) throws {
    var client = try makeClient()
    // The server confirms the ticks, but does not say that it has the client's inputs.
    for index in 0..<ticks {
      try client.receive(.neutralInputs(100 + UInt64(index), 1, needing: 100), at: .zero)
      client.advance(with: Swarm.Input(push: Int32(index % 90)))
    }
    let duePacket = client.pollPacket()
    let header = try #require(duePacket).inputHeader()
    // The keyframe made one input more.
    #expect(Int(header.first) == 100 + max(0, ticks + 1 - 256))
    #expect(header.count == 127 && header.context == 0)
    let needed = UInt64(100 + max(0, ticks + 1 - 256) + 5)
    try client.receive(.neutralInputs(100 + UInt64(ticks), 1, needing: needed), at: .zero)
    client.advance(with: Swarm.Input())
    let dueNext = client.pollPacket()
    let nextHeader = try #require(dueNext).inputHeader()
    #expect(UInt64(nextHeader.first) == needed)
    #expect(nextHeader.context == (ticks + 2 > 256 ? 4 : 5))
  }
}
