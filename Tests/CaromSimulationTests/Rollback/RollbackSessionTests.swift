import AirHockey
import CaromCore
import CaromTesting
import Testing

@testable import CaromSimulation

@Suite struct RollbackSessionTests {
  @Test
  func `a match over a terrible line has no stall and no desync, and both ends agree on each tick`()
  {
    let seconds = matchSeconds(debug: 12)
    var match = PeerMatch(
      Rink(), window: 30, seed: 1, conditions: hardLine, lateness: .milliseconds(60))
    var players = [
      ComputerPlayer(.home, strength: .hard, seed: 1), ComputerPlayer(.away, seed: 2),
    ]
    match.play(until: .zero + .seconds(seconds)) { player, session in
      players[player].play(session.state.state)
    }
    #expect(match.failures.isEmpty)
    let agree = match.agree
    #expect(agree)
    #expect(match.desyncs.isEmpty)
    #expect(match.length > 60 * (seconds - 2))
    for session in match.sessions {
      #expect(session.rollback.statistics.stalls == 0)
      #expect(session.rollback.statistics.rollbacks > 10 * (seconds - 2))
      #expect(session.lead.magnitude < 2)
    }
    // The match contains actual play: the puck was released and struck.
    #expect(match.confirmed[0].contains { $0.event == .faceOff })
    #expect(match.confirmed[0].contains { if case .touch = $0.event { true } else { false } })
    let common = min(match.confirmed[0].count, match.confirmed[1].count)
    #expect(match.confirmed[0].prefix(common) == match.confirmed[1].prefix(common))
  }

  @Test func `a thousand objects that spawn and die stay in step`() {
    let seconds = scaled(debug: 2, release: 10)
    let count = scaled(debug: 100, release: 1_000)
    var match = PeerMatch(
      Swarm(count: count, seed: 7), window: 30, seed: 2, conditions: hardLine)
    var hands = [SwarmHand(seed: 1), SwarmHand(seed: 2)]
    match.play(until: .zero + .seconds(seconds)) { player, _ in hands[player].input() }
    #expect(match.failures.isEmpty)
    let agree = match.agree
    #expect(agree)
    #expect(match.desyncs.isEmpty)
    #expect(match.length > 60 * (seconds - 1))
    #expect(match.sessions.allSatisfy { $0.rollback.statistics.stalls == 0 })
    #expect(match.sessions.allSatisfy { $0.rollback.statistics.rollbacks > 10 })
    #expect(match.confirmed[0].contains { if case .born = $0.event { true } else { false } })
  }

  @Test func `the lead is the mean of all measured offsets, and a measured offset may be 0`() {
    let game = Swarm(count: 1, players: 4, seed: 1)
    let configuration = RollbackConfiguration(players: 4, local: 0)
    var session = RollbackSession(game, configuration, at: .zero)
    #expect(session.lead == 0)
    for (player, ticks) in [(1, 4), (2, 0)] as [(Int, Int64)] {
      let local = Tick(100)
      session.peers[player].sync.recordPeerTick(local.advanced(by: -ticks), at: local, fraction: 0)
      session.peers[player].sync.recordPeerAdvantage(0)
    }
    #expect(session.lead == 1)
  }

  @Test func `four peers without a server agree`() {
    let seconds = scaled(debug: 2, release: 10)
    var match = PeerMatch(
      Swarm(count: 40, players: 4, seed: 3), players: 4, window: 20, seed: 3,
      conditions: .poor, lateness: .milliseconds(30))
    var hands = (0..<4).map { SwarmHand(seed: UInt64($0)) }
    match.play(until: .zero + .seconds(seconds)) { player, _ in hands[player].input() }
    let agree = match.agree
    #expect(agree)
    #expect(match.desyncs.isEmpty)
    #expect(match.length > 60 * (seconds - 1))
    #expect(match.sessions.allSatisfy { $0.rollback.statistics.stalls == 0 })
  }

  @Test func `an event is confirmed once, and every predicted event is confirmed or retracted`() {
    var match = PeerMatch(
      Swarm(count: 20, seed: 5), window: 30, seed: 4, conditions: .poor)
    var hands = [SwarmHand(seed: 3), SwarmHand(seed: 4)]
    match.play(until: .zero + .seconds(8)) { player, _ in hands[player].input() }
    for player in 0...1 {
      var open: [Swarm.Event: Int] = [:]
      var isConfirmed: Set<Swarm.Event> = []
      for told in match.told[player] {
        switch told {
        case .predicted(let event, _): open[event, default: 0] += 1
        case .retracted(let event, _): open[event, default: 0] -= 1
        case .confirmed(let event, _):
          open[event, default: 0] -= 1
          #expect(isConfirmed.insert(event).inserted)
        }
        #expect(open.values.allSatisfy { $0 >= 0 })
      }
      // Events without a conclusion belong to the last ticks.
      let last = match.sessions[player].rollback.confirmedTick
      let recent = match.told[player].filter { $0.tick >= last }
      #expect(open.values.reduce(0, +) <= recent.count)
      #expect(match.told[player].contains { if case .retracted = $0 { true } else { false } })
    }
    let agree = match.agree
    #expect(agree)
  }

  @Test
  func `without a prediction window every tick waits for all inputs, and none is resimulated`() {
    var match = PeerMatch(
      Swarm(count: 20, seed: 5), window: 0, delay: 3, seed: 5,
      conditions: LinkConditions(oneWay: .milliseconds(20)))
    var hands = [SwarmHand(seed: 3), SwarmHand(seed: 4)]
    match.play(until: .zero + .seconds(5)) { player, _ in hands[player].input() }
    let agree = match.agree
    #expect(agree)
    #expect(match.length > 250)
    #expect(match.sessions.allSatisfy { $0.rollback.statistics.rollbacks == 0 })
  }

  @Test func `a dead line stalls the game at the end of the window until the line recovers`() {
    var match = PeerMatch(
      Swarm(count: 20, seed: 5), window: 10, delay: 2, seed: 5, conditions: .good)
    var hands = [SwarmHand(seed: 3), SwarmHand(seed: 4)]
    match.play(until: .zero + .seconds(2)) { player, _ in hands[player].input() }
    let before = match.sessions[0].rollback
    match.network.conditions = .cut
    match.play(until: .zero + .seconds(4)) { player, _ in hands[player].input() }
    let during = match.sessions[0].rollback
    #expect(during.confirmedTick.distance(to: during.tick) == 10)
    #expect(before.tick.distance(to: during.tick) <= 12)
    match.network.conditions = .good
    match.play(until: .zero + .seconds(6)) { player, _ in hands[player].input() }
    #expect(during.tick.distance(to: match.sessions[0].rollback.tick) > 100)
    let agree = match.agree
    #expect(agree)
    #expect(match.desyncs.isEmpty)
  }

  @Test func `a change of the input delay neither loses nor repeats an input`() {
    var match = PeerMatch(
      Swarm(count: 10, seed: 5), window: 20, delay: 2, seed: 6, conditions: .average)
    var hands = [SwarmHand(seed: 8), SwarmHand(seed: 9)]
    var wishes = [0, 0]
    for (second, delay) in [(2, 8), (4, 0), (6, 5), (8, 1)] {
      match.play(until: .zero + .seconds(second)) { player, _ in
        let input = hands[player].input()
        if input.wish == .spawn { wishes[player] += 1 }
        return input
      }
      match.sessions[0].setInputDelay(delay)
    }
    match.play(until: .zero + .seconds(10)) { _, _ in Swarm.Input() }
    let agree = match.agree
    #expect(agree)
    let births = match.confirmed[0].count { if case .born = $0.event { true } else { false } }
    #expect(births == wishes[0] + wishes[1])
  }

  @Test func `clocks that start half a second apart synchronize`() {
    var match = PeerMatch(
      Swarm(count: 4, seed: 5), window: 30, delay: 2, seed: 6,
      conditions: LinkConditions(oneWay: .milliseconds(40)), lateness: .milliseconds(400))
    match.play(until: .zero + .seconds(30)) { _, _ in Swarm.Input() }
    let apart = match.sessions[0].rollback.tick.distance(to: match.sessions[1].rollback.tick)
    #expect(apart.magnitude <= 1)
    #expect(match.sessions.allSatisfy { (980_000...1_020_000).contains($0.speed) })
  }

  @Test(arguments: LinkProfile.all)
  func `peers stay in step on every kind of line`(profile: LinkProfile) {
    var match = PeerMatch(
      Swarm(count: 5, seed: 5), window: 30, seed: 6, conditions: .lan)
    match.network.setProfile(
      profile, from: match.network.hosts[0], to: match.network.hosts[1])
    var hands = [SwarmHand(seed: 8), SwarmHand(seed: 9)]
    match.play(until: .zero + .seconds(scaled(debug: 3, release: 15))) { player, _ in
      hands[player].input()
    }
    let agree = match.agree
    #expect(agree)
    #expect(match.desyncs.isEmpty)
    #expect(match.failures.isEmpty)
    #expect(match.length > 30)
    #expect(match.sessions.allSatisfy { $0.rollback.buffers.allSatisfy { $0.conflicts == 0 } })
  }

  @Test func `after a minute's sleep a quarter of a second is caught up`() {
    var session = RollbackSession(
      Swarm(count: 2, seed: 1), RollbackConfiguration(local: 0), at: .zero)
    #expect(session.takeDueTicks(at: .zero + .seconds(60)) == 15)
    #expect(session.takeDueTicks(at: .zero + .seconds(60)) == 0)
  }

  @Test func `a peer that slept for ten seconds synchronizes again`() {
    var match = PeerMatch(
      Swarm(count: 5, seed: 5), window: 10, seed: 6, conditions: .good)
    var hands = [SwarmHand(seed: 8), SwarmHand(seed: 9)]
    match.play(until: .zero + .seconds(2)) { player, _ in hands[player].input() }
    match.gone = [1]
    match.play(until: .zero + .seconds(12)) { player, _ in hands[player].input() }
    match.gone = []
    match.play(until: .zero + .seconds(16)) { player, _ in hands[player].input() }
    let agree = match.agree
    #expect(agree)
    #expect(match.length > 60 * 5)
  }

  @Test func `a spectator of two peers sees the ticks that both confirmed`() throws {
    var match = PeerMatch(
      Swarm(count: 5, seed: 5), window: 20, seed: 6, conditions: .average)
    var hands = [SwarmHand(seed: 8), SwarmHand(seed: 9)]
    var broadcaster = RollbackBroadcaster(Swarm(count: 5, seed: 5), players: 2)
    let number = broadcaster.addClient()
    var spectator = RollbackClient<Swarm>(player: nil, delay: 0, at: .zero)
    var writer = PacketWriter()
    for step in 1...60 {
      let now = Instant.zero + .milliseconds(100 * step)
      match.play(until: now) { player, _ in hands[player].input() }
      broadcaster.record(match.sessions[0].rollback)
      while true {
        writer.removeAll()
        guard let (_, message) = broadcaster.pollTransmit(into: &writer) else { break }
        let bytes = writer.bytes
        if step % 4 != 0 { try spectator.receive(message, bytes.span, at: now) }
      }
      for _ in 0..<spectator.takeDueTicks(at: now) { spectator.advance() }
      writer.removeAll()
      while let message = spectator.pollTransmit(into: &writer) {
        let bytes = writer.bytes
        try broadcaster.receive(message, bytes.span, from: number)
        writer.removeAll()
      }
    }
    let seen = try #require(spectator.rollback)
    #expect(seen.confirmedTick.rawValue > 300)
    #expect(seen.hash(at: seen.confirmedTick) == match.hashes[0][Int(seen.confirmedTick.rawValue)])
    #expect(spectator.desyncs.isEmpty)
  }
}
