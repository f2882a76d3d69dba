import AirHockey
import CaromCore
import CaromTesting
import Testing

@testable import CaromSimulation

@Suite struct RollbackServerTests {
  @Test func `over a terrible line clients agree with the server on each tick`() {
    let seconds = matchSeconds(debug: 10)
    let line = LinkConditions(
      oneWay: .milliseconds(100), jitter: .uniform(.milliseconds(30)), loss: 0.25)
    var match = ServerMatch(Rink(), seed: 1, conditions: line)
    match.join(0, roundTrip: .milliseconds(200))
    match.join(1, roundTrip: .milliseconds(200))
    var players = [
      ComputerPlayer(.home, strength: .hard, seed: 1), ComputerPlayer(.away, seed: 2),
    ]
    match.play(until: .zero + .seconds(seconds)) { seat, client in
      guard let state = client.state?.state else { return RinkInput() }
      return players[seat].play(state)
    }
    #expect(match.failures.isEmpty)
    #expect(match.desyncs.isEmpty)
    for seat in 0...1 {
      let agrees = match.agrees(seat)
      #expect(agrees)
      #expect(match.seats[seat].hashes.count > 60 * (seconds - 2))
      #expect(match.seats[seat].client.rollback?.statistics.stalls == 0)
      #expect(match.seats[seat].client.rollback.map { $0.statistics.rollbacks > seconds } == true)
    }
    #expect(match.events.contains(.faceOff))
  }

  @Test func `without loss every input applies at its tick, and no state is corrected`() {
    let line = LinkConditions(oneWay: .milliseconds(40), jitter: .uniform(.milliseconds(4)))
    var match = ServerMatch(Swarm(count: 10, seed: 3), seed: 1, conditions: line)
    match.join(0, roundTrip: .milliseconds(80))
    var hand = SwarmHand(seed: 1)
    match.play(until: .zero + .seconds(20)) { _, _ in hand.input() }
    #expect(match.server.missedInputs(of: 0) == 0)
    #expect(match.seats[0].client.overriddenInputs == 0)
    #expect(match.seats[0].client.rollback?.statistics.rollbacks == 0)
    let agrees = match.agrees(0)
    #expect(agrees)
    // The clock is ahead by the one-way delay plus about a tick.
    let ahead = match.server.tick.distance(to: match.seats[0].client.rollback?.tick ?? .zero)
    #expect((3...6).contains(ahead))
  }

  @Test func `a one-time action is neither lost nor repeated, however late it arrives`() {
    var match = ServerMatch(
      Swarm(count: 10, seed: 3), seed: 4, conditions: .poor)
    match.join(0)
    match.join(1)
    var hands = [SwarmHand(seed: 5), SwarmHand(seed: 6)]
    var wishes = [0, 0]
    match.play(until: .zero + .seconds(20)) { seat, client in
      guard client.rollback != nil else { return Swarm.Input() }
      let input = hands[seat].input()
      let wish: Swarm.Input.Wish = input.wish == .spawn ? .spawn : .nothing
      if wish == .spawn { wishes[seat] += 1 }
      return Swarm.Input(push: input.push, wish: wish)
    }
    match.play(until: .zero + .seconds(22)) { _, _ in Swarm.Input() }
    let births = match.events.count { if case .born = $0 { true } else { false } }
    // An input is lost only if two wishes of one player arrive late together and are merged into
    // one.
    #expect(births <= wishes[0] + wishes[1])
    #expect(births >= (wishes[0] + wishes[1]) * 9 / 10)
    let agree = (0...1).map { match.agrees($0) }
    #expect(agree == [true, true])
    #expect(match.desyncs.isEmpty)
  }

  @Test func `a request that the filter removes never applies, whether in time or late`() {
    var match = ServerMatch(Rink(), seed: 4, conditions: .poor)
    match.server.inputFilter = { player, input in
      player == 0 && input.request == .pause ? input.held : input
    }
    match.join(0)
    match.join(1)
    var ticks = [0, 0]
    match.play(until: .zero + .seconds(8)) { seat, client in
      guard let state = client.state?.state else { return RinkInput() }
      ticks[seat] += 1
      let mallet = MalletInput(state[mallet: seat == 0 ? .home : .away].vector)
      let pauses = seat == 0 ? ticks[0] % 20 == 0 : ticks[1] == 120
      return RinkInput(mallet, request: pauses ? .pause : nil)
    }
    #expect(ticks[0] > 300)
    #expect(match.server.state.state.pauses == .away)
    for seat in 0...1 {
      let agrees = match.agrees(seat)
      #expect(agrees)
    }
  }

  @Test func `a late joiner and a spectator start from a keyframe and catch up`() {
    let line = LinkConditions(
      oneWay: .milliseconds(60), jitter: .uniform(.milliseconds(10)), loss: 0.1)
    var match = ServerMatch(Swarm(count: 50, seed: 3), seed: 4, conditions: line)
    match.join(0, roundTrip: .milliseconds(120))
    var hands = [SwarmHand(seed: 5), SwarmHand(seed: 6), SwarmHand(seed: 7)]
    match.play(until: .zero + .seconds(5)) { seat, _ in hands[seat].input() }
    match.join(1, roundTrip: .milliseconds(120))
    match.join(nil)
    match.play(until: .zero + .seconds(15)) { seat, _ in hands[seat].input() }
    #expect(match.seats[1].client.rollback?.buffers[0].start.rawValue ?? 0 > 290)
    for seat in 0...2 {
      let agrees = match.agrees(seat)
      #expect(agrees)
      #expect(match.seats[seat].hashes.count > 500)
    }
    #expect(match.seats[2].client.ticksBehind ?? 99 < 12)
    #expect(match.desyncs.isEmpty)
  }

  @Test func `a spectator recovers from ten seconds without a connection`() {
    let line = LinkConditions(oneWay: .milliseconds(30))
    var match = ServerMatch(Swarm(count: 10, seed: 3), seed: 4, conditions: line)
    match.join(0, roundTrip: .milliseconds(60))
    match.join(nil)
    var hands = [SwarmHand(seed: 5), SwarmHand(seed: 6)]
    match.play(until: .zero + .seconds(3)) { seat, _ in hands[seat].input() }
    match.network.conditions = .cut
    match.play(until: .zero + .seconds(13)) { seat, _ in hands[seat].input() }
    match.network.conditions = line
    match.play(until: .zero + .seconds(18)) { seat, _ in hands[seat].input() }
    let agree = (0...1).map { match.agrees($0) }
    #expect(agree == [true, true])
    for seat in 0...1 {
      let tick = match.seats[seat].client.rollback?.confirmedTick ?? .zero
      #expect(tick.distance(to: match.server.tick) < 20)
    }
  }

  @Test func `a client with a corrupted state gets a desync report and recovers`() throws {
    let line = LinkConditions(oneWay: .milliseconds(30))
    var match = ServerMatch(Swarm(count: 10, seed: 3), seed: 4, conditions: line)
    match.join(0, roundTrip: .milliseconds(60))
    var hand = SwarmHand(seed: 5)
    match.play(until: .zero + .seconds(3)) { _, _ in hand.input() }
    let tick = try #require(match.seats[0].client.damage { $0.damage = 1 })
    match.play(until: .zero + .seconds(6)) { _, _ in hand.input() }
    let report = try #require(match.desyncs.first)
    #expect(match.desyncs.count == 1)
    #expect(report.player == nil)
    #expect(report.tick == tick.next)
    #expect(report.differences.first?.entity == "thing")
    let last = try #require(match.seats[0].client.rollback?.confirmedTick)
    #expect(match.seats[0].client.rollback?.hash(at: last) == match.hashes[Int(last.rawValue)])
  }

  @Test func `random bytes never trap a server or a client`() throws {
    var server = RollbackServer(Swarm(count: 2, seed: 1), players: 2, at: .zero)
    _ = server.addPlayer(0)
    _ = server.addSpectator()
    var writer = PacketWriter()
    _ = server.pollTransmit(into: &writer)
    var client = RollbackClient<Swarm>(player: 0, at: .zero)
    let keyframe = writer.bytes
    try client.receive(.keyframe, keyframe.span, at: .zero)
    try Seeds(scaled(debug: 1_000, release: 6_000)).check { seed in
      var generator = SeededGenerator(seed: seed)
      var (server, client) = (server, client)
      var bytes = seed % 2 == 0 ? keyframe : []
      if bytes.isEmpty {
        let count = Int.random(in: 0...40, using: &generator)
        bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      } else {
        bytes[Int.random(in: bytes.indices, using: &generator)] ^= UInt8(1 << (seed % 8))
      }
      for message in RollbackMessage.allCases {
        try? client.receive(message, bytes.span, at: .zero)
        for number in 0...1 { try? server.receive(message, bytes.span, from: number, at: .zero) }
      }
      for _ in 0..<3 {
        server.advance()
        client.advance(with: Swarm.Input(push: 1))
      }
      writer.removeAll()
      for _ in 0..<9 { _ = server.pollTransmit(into: &writer) }
      for _ in 0..<4 { _ = client.pollTransmit(into: &writer) }
    }
  }
}

extension RollbackClient {
  /// Changes the state before the next tick to be confirmed. Returns that tick.
  fileprivate mutating func damage(_ change: (inout Game) -> Void) -> Tick? {
    guard let tick = rollback?.confirmedTick, let slot = rollback?.slot(tick) else { return nil }
    if rollback?.saves[slot] != nil { change(&rollback!.saves[slot]) }
    rollback?.rollBack(to: tick)
    return tick
  }
}
