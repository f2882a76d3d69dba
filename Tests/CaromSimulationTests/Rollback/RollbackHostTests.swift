import CaromCore
import Testing

@testable import CaromSimulation

/// A host with its clients in virtual time: players, late inputs, and clients that come and go.
@Suite struct RollbackHostTests {
  private typealias Match = HostMatch<Swarm>
  private typealias Event = RollbackHost<Swarm, Int>.Event

  private func makeMatch(
    oneWay: Duration, remotePlayers: [Int]? = nil, rate: Int = 60
  ) -> Match {
    let server = RollbackServer(Swarm(count: 4, seed: 1), players: 2, rate: rate, at: .zero)
    return Match(RollbackHost(server, remotePlayers: remotePlayers), oneWay: oneWay)
  }

  private func push(_ id: Int, _ client: RollbackClient<Swarm>) -> Swarm.Input {
    Swarm.Input(push: Int32(client.rollback?.tick.rawValue ?? 0) % 50)
  }

  // MARK: Long paths

  @Test(arguments: [10, 50, 150, 300, 350])
  func `on a path of any length no input is missed after the first second`(
    oneWay: Int
  ) throws {
    var match = makeMatch(oneWay: .milliseconds(oneWay))
    match.join(1, as: 0)
    match.join(2, as: 1)
    try match.play(for: .milliseconds(2 * oneWay) + .seconds(1), push)
    let missed = (0...1).map { match.host.server.missedInputs(of: $0) }
    let stepped = match.stepped
    try match.play(for: .seconds(20), push)
    for player in 0...1 {
      #expect(match.host.server.missedInputs(of: player) == missed[player])
      #expect(match.agrees(player + 1))
      let ticks = match.stepped[player + 1, default: 0] - stepped[player + 1, default: 0]
      #expect((1_195...1_205).contains(ticks))
    }
    #expect(match.hostEvents.isEmpty && match.desyncs.isEmpty)
    #expect(match.clients[1]?.areInputsLate == false)
  }

  @Test(arguments: [100, 400, 700])
  func `the same holds for a client whose first state was lost and sent again`(
    delay: Int
  ) throws {
    var match = makeMatch(oneWay: .milliseconds(300))
    match.keyframeDelay = .milliseconds(delay)
    match.join(1, as: 0)
    try match.play(for: .milliseconds(600 + delay), push)
    // Only the inputs for the ticks that the host confirmed before it could get any are missed.
    let missed = match.host.server.missedInputs(of: 0)
    try match.play(for: .seconds(20), push)
    #expect(match.host.server.missedInputs(of: 0) - missed < 4)
    #expect(match.agrees(1) && match.hostEvents.isEmpty && match.desyncs.isEmpty)
    // The client has not run further ahead than it had to.
    #expect(match.clients[1]?.rollback?.statistics.stalls ?? 99 < 4)
  }

  @Test func `the same holds with the default window of a client and 5 % loss`() throws {
    var match = makeMatch(oneWay: .milliseconds(300))
    match.loss = 0.05
    match.join(1, as: 0, window: 20)
    try match.play(for: .milliseconds(1_600), push)
    let missed = match.host.server.missedInputs(of: 0)
    try match.play(for: .seconds(20), push)
    #expect(match.host.server.missedInputs(of: 0) - missed < 12)
    #expect(match.agrees(1) && match.hostEvents.isEmpty)
  }

  @Test func `the input delay is as short as the prediction window allows`() throws {
    for (oneWay, window, delay) in [(50, 30, 0), (150, 20, 6), (300, 30, 14), (300, 20, 24)] {
      var match = makeMatch(oneWay: .milliseconds(oneWay))
      match.join(1, as: 0, window: window)
      try match.play(for: .seconds(5), push)
      #expect(match.clients[1]?.currentInputDelay == delay)
      #expect(match.clients[1]?.rollback?.statistics.stalls == 0)
    }
  }

  @Test func `the input delay is never below its least value, and follows a shorter path`() throws {
    var client = RollbackClient<Swarm>(player: 0, window: 20, inputDelay: 3, at: .zero)
    #expect(client.currentInputDelay == 3)
    client.roundTrip = .milliseconds(400)
    #expect(client.currentInputDelay == 12)
    // Two ticks less are within the variation of a path; three are a shorter path.
    client.roundTrip = .milliseconds(367)
    #expect(client.currentInputDelay == 12)
    client.roundTrip = .milliseconds(350)
    #expect(client.currentInputDelay == 9)
    client.roundTrip = .seconds(60)
    #expect(client.currentInputDelay == SimulationLimits.inputDelay)
    client.roundTrip = .zero
    #expect(client.currentInputDelay == 3)
    client.roundTrip = .seconds(1)
    client.adaptsInputDelay = false
    #expect(client.currentInputDelay == 3)
  }

  @Test func `inputs that are late for a second are reported on both sides, and so is their end`()
    throws
  {
    var match = makeMatch(oneWay: .milliseconds(300))
    match.join(1, as: 1, window: 20, adapts: false)
    try match.play(for: .seconds(4), push)
    #expect(match.hostEvents == [.inputsLate(1, player: 1)])
    #expect(match.clients[1]?.areInputsLate == true)
    #expect(match.host.server.missedInputs(of: 1) > 100)
    match.clients[1]?.adaptsInputDelay = true
    try match.play(for: .seconds(5), push)
    #expect(match.hostEvents == [.inputsLate(1, player: 1), .inputsOnTime(1, player: 1)])
    #expect(match.clients[1]?.areInputsLate == false)
  }

  @Test func `a reader of events that were dropped learns how many`() {
    var host = makeMatch(oneWay: .zero).host
    for _ in 0..<host.events.limit + 3 { host.events.append(.inputsLate(1, player: 0)) }
    #expect(host.pollEvent() == .missed(events: 3))
    #expect(host.pollEvent() == .inputsLate(1, player: 0))
  }

  // MARK: Seats

  @Test func `each client learns its player and the rate of the match`() throws {
    var match = makeMatch(oneWay: .milliseconds(20), rate: 120)
    match.join(1, as: 1)
    match.join(2, as: nil)
    #expect(match.clients[1]?.isSeated == false && match.clients[1]?.player == nil)
    try match.play(for: .seconds(1), push)
    #expect(match.clients[1]?.isSeated == true && match.clients[1]?.player == 1)
    #expect(match.clients[1]?.rate == 120 && match.clients[2]?.rate == 120)
    #expect(match.clients[2]?.isSeated == true && match.clients[2]?.player == nil)
    #expect(match.clients[2]?.rollback?.window == 0)
    #expect(match.agrees(1) && match.agrees(2))
    #expect((110...125).contains(match.stepped[1, default: 0]))
    #expect(match.host.ids == [1, 2])
  }

  @Test func `a peer gets its player back, and others get a player that nobody had`() {
    let server = RollbackServer(Race(), players: 4, at: .zero)
    var host = RollbackHost<Race, Int>(server, remotePlayers: [3, 1, 2])
    let peers = (0..<5).map { PeerID(high: 0, low: UInt64($0)) }
    #expect(host.remotePlayers == [1, 2, 3] && host.freePlayers == [1, 2, 3])
    for id in 0..<2 { host.add(id, peer: peers[id], as: host.player(for: peers[id])) }
    #expect(host.player(of: 0) == 1 && host.player(of: 1) == 2)
    #expect(host.client(of: 2) == 1 && host.client(of: 3) == nil)
    host.remove(0)
    host.remove(0)
    #expect(host.freePlayers == [1, 3] && !host.contains(0) && host.lastPeer(of: 1) == peers[0])
    #expect(host.player(for: peers[2]) == 3 && host.player(for: peers[0]) == 1)
    host.add(2, peer: peers[2], as: 3)
    // Only the player of the peer that is away is left.
    #expect(host.player(for: peers[3]) == 1)
    host.add(3, peer: peers[3], as: 1)
    #expect(host.player(for: peers[0]) == nil && host.freePlayers.isEmpty)
    host.add(4, peer: peers[4], as: nil)
    #expect(host.player(of: 4) == nil && host.contains(4) && host.ids.count == 4)
    host.remove(4)
    #expect(host.ids.count == 3)
  }

  @Test func `a late client begins with a keyframe, and a player without a client rests`() throws {
    var match = makeMatch(oneWay: .milliseconds(40))
    match.join(1, as: 0)
    try match.play(for: .seconds(3), push)
    match.join(2, as: 1)
    try match.play(for: .seconds(1), push)
    #expect(match.agrees(2) && match.clients[2]?.keyframeCount == 1)
    match.leave(1)
    try match.play(for: .seconds(1), push)
    let last = match.host.server.tick.advanced(by: -1)
    #expect(match.host.server.broadcaster.input(for: 0, at: last) == Swarm.Input())
    match.join(3, as: 0)
    try match.play(for: .seconds(1), push)
    #expect(match.agrees(2) && match.agrees(3) && match.desyncs.isEmpty)
  }

  // MARK: Trouble

  @Test(arguments: [1, 10])
  func `after an interruption of some seconds a client goes on without a missed input`(
    seconds: Int
  ) throws {
    var match = makeMatch(oneWay: .milliseconds(80))
    match.join(1, as: 0)
    try match.play(for: .seconds(3), push)
    match.cut = [1]
    try match.play(for: .seconds(seconds), push)
    #expect(match.host.server.areInputsLate(of: 0) && match.clients[1]?.areInputsLate == false)
    match.cut = []
    try match.play(for: .seconds(2), push)
    let missed = match.host.server.missedInputs(of: 0)
    try match.play(for: .seconds(5), push)
    #expect(match.host.server.missedInputs(of: 0) == missed)
    #expect(match.agrees(1) && match.desyncs.isEmpty)
    #expect(match.hostEvents == [.inputsLate(1, player: 0), .inputsOnTime(1, player: 0)])
  }

  @Test func `a desync is reported once on both sides, and the client recovers`() throws {
    var match = makeMatch(oneWay: .milliseconds(40))
    match.join(1, as: 0)
    try match.play(for: .seconds(1), push)
    match.clients[1]?.rollback?.damageConfirmed()
    try match.play(for: .seconds(2), push)
    #expect(match.desyncs.count == 1)
    let reported = match.hostEvents.count { if case .desynced(1, _) = $0 { true } else { false } }
    #expect(reported == 1)
    #expect(match.agrees(1) && match.clients[1]?.keyframeCount == 2)
  }

  @Test func `a keyframe before the seat and another seat violate the protocol`() throws {
    var client = RollbackClient<Swarm>(at: .zero)
    #expect(throws: DecodeError.invalid(what: "keyframe before the seat")) {
      try client.receive(.keyframe(of: 1), at: .zero)
    }
    let seat = RollbackPacket(.seat, RollbackSeat(player: 1, rate: 60).encoded)
    for _ in 0..<2 { try client.receive(seat, at: .zero) }
    #expect(client.player == 1)
    for other in [RollbackSeat(player: 0, rate: 60), RollbackSeat(player: 1, rate: 30)] {
      #expect(throws: DecodeError.invalid(what: "seat")) {
        try client.receive(RollbackPacket(.seat, other.encoded), at: .zero)
      }
    }
    var server = RollbackServer(Swarm(count: 2, seed: 1), players: 2, at: .zero)
    let number = server.addPlayer(0)
    #expect(throws: DecodeError.invalid(what: "seat to a server")) {
      try server.receive(seat, from: number, at: .zero)
    }
    var peer = RollbackSession(
      Swarm(count: 2, seed: 1), RollbackConfiguration(local: 0), at: .zero)
    #expect(throws: DecodeError.invalid(what: "seat between peers")) {
      try peer.receive(seat, from: 1, at: .zero)
    }
  }

  @Test func `a seat has the documented layout, and impossible ones are refused`() throws {
    #expect(RollbackSeat(player: 3, rate: 300).encoded == [3, 0x2C, 1])
    #expect(RollbackSeat(player: nil, rate: 60).encoded == [255, 60, 0])
    for bytes: [UInt8] in [[63, 1, 0], [255, 255, 255]] {
      #expect(try RollbackSeat(decoding: bytes.span).encoded == bytes)
    }
    for bytes: [UInt8] in [[64, 60, 0], [254, 60, 0], [1, 0, 0], [1, 60], [1, 60, 0, 0]] {
      #expect(throws: DecodeError.self) { try RollbackSeat(decoding: bytes.span) }
    }
  }

  @Test func `a host announces no seats if its clients know theirs`() throws {
    var host = RollbackHost<Swarm, Int>(
      RollbackServer(Swarm(count: 2, seed: 1), players: 2, at: .zero), announcesSeats: false)
    host.add(7, peer: PeerID(high: 0, low: 7), as: 0)
    var writer = PacketWriter()
    let first = host.pollTransmit(into: &writer)
    #expect(first?.client == 7 && first?.message == .keyframe)
    #expect(host.pollTransmit(into: &writer) == nil)
    // Before the client has its keyframe there is nothing to end with; nobody else has anything.
    #expect(!host.writeInputs(for: 8, into: &writer))
    host.advance()
    writer.removeAll()
    #expect(host.writeInputs(for: 7, into: &writer) && writer.count > 0)
  }
}

/// A game of four players whose state is the sum of their inputs.
private struct Race: Simulation, PacketCodable {
  static var playerCounts: ClosedRange<Int> { 4...4 }
  var sum: UInt64 = 0

  init() {}
  mutating func step(_ inputs: Span<NumberInput>, events: inout [Never]) {
    for index in inputs.indices { sum &+= UInt64(truncatingIfNeeded: inputs[index].field(0)) }
  }
  var hash: UInt64 { sum }
  func encode(into writer: inout PacketWriter) { writer.write(sum) }
  init(decoding reader: inout PacketReader) throws(DecodeError) { sum = try reader.read() }
}

extension Rollback<Swarm> {
  /// Changes the state that is simulated next, as a fault of the memory or of the program would.
  fileprivate mutating func damageConfirmed() {
    saves[slot(confirmedTick)].damage = 1
    if confirmedTick < tick { rollBack(to: confirmedTick) } else { game.damage = 1 }
  }
}
