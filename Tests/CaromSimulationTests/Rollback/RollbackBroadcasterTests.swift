import CaromCore
import Testing

@testable import CaromSimulation

/// What a server sends to its clients; WireFormat, Rollback play.
@Suite struct RollbackBroadcasterTests {
  private var broadcaster = RollbackBroadcaster(
    Swarm(count: 2, seed: 1), players: 2, at: Tick(500))

  private mutating func poll() -> [RollbackPacket] {
    var packets: [RollbackPacket] = []
    while let (_, packet) = broadcaster.pollPacket() { packets.append(packet) }
    return packets
  }

  private mutating func advance(_ ticks: Int) {
    for _ in 0..<ticks { broadcaster.append { _ in Swarm.Input(push: 3) } }
  }

  private func acknowledgement(of tick: UInt64) -> RollbackPacket {
    let header = InputHeader(first: Tick(tick), count: 0, acknowledged: Tick(tick))
    return RollbackPacket(.inputs, header.encoded)
  }

  @Test mutating func `a client begins with a keyframe, and receives the inputs after it`() throws {
    advance(3)
    let client = broadcaster.addClient()
    let first = poll()
    #expect(first.map(\.message) == [.keyframe])
    let bytes = first[0].bytes
    let keyframe = try RollbackKeyframe<Swarm>(decoding: bytes.span)
    #expect(keyframe.tick == Tick(503) && keyframe.players == 2)
    #expect(keyframe.game.hash == broadcaster.state.hash)
    advance(2)
    var inputs = poll()
    #expect(inputs.map(\.message) == [.inputs])
    var found = try #require(inputs.first).inputHeader()
    #expect(found.first == 503 && found.count == 2 && found.acknowledged == 2)
    #expect(found.context == 0 && found.timing == nil)
    let hash = UInt32(truncatingIfNeeded: broadcaster.state.hash)
    #expect(found.confirmed == .init(offset: 2, hash: hash))
    try broadcaster.receive(acknowledgement(of: 504), from: client)
    advance(1)
    inputs = poll()
    found = try #require(inputs.first).inputHeader()
    #expect(found.first == 504 && found.count == 2 && found.context == 1)
    // An acknowledgement that was overtaken does not move back.
    try broadcaster.receive(acknowledgement(of: 503), from: client)
    advance(1)
    #expect(try #require(poll().first).inputHeader().first == 504)
  }

  @Test(arguments: [(244, .inputs), (245, .keyframe)] as [(Int, RollbackMessage)])
  mutating func `a client gets a keyframe if its inputs, or 12 before them, are no longer stored`(
    behind: Int, message: RollbackMessage
  ) throws {
    let client = broadcaster.addClient()
    _ = poll()
    advance(20)
    _ = poll()
    try broadcaster.receive(acknowledgement(of: 520), from: client)
    advance(behind)
    let canWrite = { (broadcaster: RollbackBroadcaster<Swarm>) in
      var broadcaster = broadcaster
      var writer = PacketWriter()
      return broadcaster.writeInputs(for: client, into: &writer)
    }
    #expect(canWrite(broadcaster) == (message == .inputs))
    let packets = poll()
    #expect(packets.first?.message == message)
    guard message == .inputs else { return }
    let found = try #require(packets.first).inputHeader()
    #expect(found.first == 520 && found.count == 127 && found.context == 12)
  }

  @Test
  mutating func `a needed tick beyond the confirmed ones, and inputs of a spectator, are invalid`()
    throws
  {
    let client = broadcaster.addClient()
    _ = poll()
    advance(2)
    #expect(throws: DecodeError.invalid(what: "acknowledged tick")) {
      try broadcaster.receive(acknowledgement(of: 503), from: client)
    }
    let acknowledged = broadcaster.clients[client]?.acknowledged
    #expect(acknowledged == Tick(500))
    let header = InputHeader(first: Tick(500), count: 1, acknowledged: Tick(500))
    #expect(throws: DecodeError.invalid(what: "a client's inputs")) {
      try broadcaster.receive(RollbackPacket(.inputs, header.encoded), from: client)
    }
    #expect(throws: DecodeError.trailingBytes(1)) {
      let bytes = acknowledgement(of: 502).bytes + [0]
      try broadcaster.receive(RollbackPacket(.inputs, bytes), from: client)
    }
    #expect(broadcaster.clients[client]?.acknowledged == acknowledged)
    try broadcaster.receive(acknowledgement(of: 502), from: client)
    #expect(throws: DecodeError.trailingBytes(2)) {
      try broadcaster.receive(RollbackPacket(.keyframe, [0, 0]), from: client)
    }
    #expect(throws: DecodeError.invalid(what: "disconnect to a server")) {
      try broadcaster.receive(RollbackPacket(.disconnect, []), from: client)
    }
    // A message of nobody is ignored.
    for nobody in [-1, 1, 99] {
      try broadcaster.receive(RollbackPacket(.disconnect, []), from: nobody)
    }
    #expect(poll().map(\.message) == [.inputs])
  }

  @Test mutating func `inputs can be written again, but not before a keyframe or for nobody`()
    throws
  {
    let client = broadcaster.addClient()
    var writer = PacketWriter()
    #expect(broadcaster.writeInputs(for: client, into: &writer) == false)
    _ = poll()
    advance(3)
    let sent = poll()
    #expect(broadcaster.writeInputs(for: client, into: &writer) == true)
    #expect(writer.bytes == sent.first?.bytes)
    for nobody in [-1, 1, 50] {
      #expect(broadcaster.writeInputs(for: nobody, into: &writer) == false)
    }
    try broadcaster.receive(RollbackPacket(.keyframe, []), from: client)
    #expect(broadcaster.writeInputs(for: client, into: &writer) == false)
    #expect(writer.bytes == sent.first?.bytes)
  }

  private mutating func report(_ tick: UInt64, _ hashes: [UInt32], _ client: Int) throws
    -> [RollbackPacket]
  {
    let report = DesyncStateReport(
      tick: Tick(tick), hashes: hashes, description: nil, isAnswer: false)
    try broadcaster.receive(RollbackPacket(.stateReport, report.encoded), from: client)
    return poll()
  }

  @Test mutating func `a client whose state differs gets a report of the first different tick`()
    throws
  {
    let client = broadcaster.addClient()
    _ = poll()
    var hashes = [UInt32(truncatingIfNeeded: broadcaster.state.hash)]
    var states = [broadcaster.state]
    for _ in 0..<140 {
      advance(1)
      hashes.append(UInt32(truncatingIfNeeded: broadcaster.state.hash))
      states.append(broadcaster.state)
      _ = poll()
    }
    // The states of the ticks 513 to 640 are stored.
    let answers = try report(640, [1, 2, hashes[138]], client)
    #expect(answers.map(\.message) == [.stateReport])
    let bytes = answers[0].bytes
    let answer = try DesyncStateReport(decoding: bytes.span)
    #expect(answer.tick == Tick(639) && answer.isAnswer)
    #expect(answer.hashes == (76...139).reversed().map { hashes[$0] })
    var description = SimulationDescription()
    states[139].describe(into: &description)
    #expect(answer.differences(from: description) == [])
    #expect(try report(513, [7, 8], client).map(\.message) == [.stateReport])
    // A state that is no longer stored, or none that differs, is answered with a keyframe.
    #expect(try report(512, [7], client).map(\.message) == [.keyframe])
  }

  @Test mutating func `a report without a difference is answered with a keyframe`() throws {
    let client = broadcaster.addClient()
    _ = poll()
    advance(1)
    _ = poll()
    let hash = UInt32(truncatingIfNeeded: broadcaster.state.hash)
    #expect(try report(501, [hash], client).map(\.message) == [.keyframe])
  }

  @Test mutating func `the last 256 inputs and the given number of states are stored`() {
    var broadcaster = RollbackBroadcaster(
      Swarm(count: 2, seed: 1), players: 2, at: Tick(500), keeping: 10)
    for index in 0..<300 { broadcaster.append { Swarm.Input(push: Int32(index % 50 + $0)) } }
    #expect(broadcaster.tick == Tick(800))
    #expect(broadcaster.input(for: 0, at: Tick(799)) == Swarm.Input(push: 49))
    #expect(broadcaster.input(for: 1, at: Tick(544)) == Swarm.Input(push: 45))
    #expect(broadcaster.input(for: 1, at: Tick(543)) == nil)
    #expect(broadcaster.input(for: 0, at: Tick(800)) == nil)
    #expect(broadcaster.history.oldest == Tick(791) && broadcaster.history.end == Tick(801))
    #expect(broadcaster.history.state(at: Tick(800))?.hash == broadcaster.state.hash)
  }

  @Test mutating func `the ticks that peers confirmed are confirmed once, with their inputs`() {
    var rollback = Rollback(Swarm(count: 2, seed: 1), players: 2, window: 8, at: Tick(500))
    for index in 0..<6 {
      for player in 0...1 where player == 0 || index < 4 {
        rollback.addInput(Swarm.Input(push: Int32(index + player)), for: player)
      }
      rollback.advance()
    }
    for _ in 0..<2 { broadcaster.record(rollback) }
    #expect(broadcaster.tick == Tick(504))
    #expect(broadcaster.input(for: 1, at: Tick(503)) == Swarm.Input(push: 4))
    #expect(broadcaster.state.hash == rollback.state(at: Tick(504))?.hash)
  }
}
