import AirHockey
import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct PredictorTests {
  /// Plays with a server and a client that are `delay` ticks apart in each direction, without loss.
  private func play(
    ticks: Int, delay: Int, _ look: (Predictor<Rink>, Rink, Predictor<Rink>.Correction?) -> Void
  ) {
    var server = Rink()
    var client = Predictor(Rink(), players: 2, player: 1)
    var players = (
      ComputerPlayer(.home, strength: .hard, seed: 3),
      ComputerPlayer(.away, strength: .hard, seed: 4)
    )
    var toServer: [RinkInput] = []
    var toClient: [Rink] = []
    var events: [RinkEvent] = []
    for tick in 0..<ticks {
      let input = RinkInput(players.1.input(for: client.state.state))
      toServer.append(input)
      client.advance(with: input)
      if tick >= delay {
        let home = RinkInput(players.0.input(for: server.state))
        let inputs = [home, toServer[tick - delay]]
        server.step(inputs.span, events: &events)
        toClient.append(server)
      }
      var correction: Predictor<Rink>.Correction?
      if tick >= 2 * delay {
        let state = toClient[tick - 2 * delay]
        correction = client.reconcile(with: state, at: state.state.tick)
      }
      look(client, server, correction)
    }
  }

  @Test func `without loss the local mallet is never corrected`() {
    var own: [Tick: RinkState] = [:]
    var (wrong, compared, corrected) = (0, 0, 0)
    var free = Tick.zero
    play(ticks: scaled(debug: 1_200, release: 12_000), delay: 4) { client, server, correction in
      own[client.tick] = client.state.state
      corrected += (correction?.resimulatedSteps ?? 0) > 0 ? 1 : 0
      guard let predicted = own[server.state.tick] else { return }
      // The opponent can influence the local mallet in two ways: whether the puck is live limits
      // its reach, and a puck squeezed by both mallets stops both.
      let isPressed = server.state.phase.isLive && server.state.puck.velocity == .zero
      if isPressed || predicted.phase.isLive != server.state.phase.isLive {
        free = server.state.tick.advanced(by: 60)
      }
      guard server.state.tick > free else { return }
      compared += 1
      if predicted[mallet: .away] != server.state[mallet: .away] { wrong += 1 }
    }
    #expect(compared > 500)
    #expect(wrong == 0)
    #expect(corrected > 100)
  }

  @Test func `an exactly predicted state changes nothing`() {
    var server = Swarm(count: 10, players: 1, seed: 3)
    var client = Predictor(server, players: 1, player: 0)
    var hand = SwarmHand(seed: 2)
    var events: [Swarm.Event] = []
    for tick in 1...200 {
      let input = hand.input()
      client.advance(with: input)
      let inputs = [input]
      server.step(inputs.span, events: &events)
      let correction = client.reconcile(with: server, at: Tick(UInt64(tick)))
      #expect(correction?.resimulatedSteps == 0)
    }
    #expect(client.counts.exact == 200)
    #expect(client.reconcile(with: server, at: Tick(200)) == nil)
    #expect(client.state.hash == server.hash)
  }

  @Test func `the predictor jumps to a server that is ahead`() {
    var client = Predictor(Swarm(count: 3, seed: 3), players: 2, player: 0)
    client.advance(with: Swarm.Input())
    let far = Swarm(count: 3, seed: 4)
    _ = client.reconcile(with: far, at: Tick(50))
    #expect(client.tick == Tick(50))
    #expect(client.state.hash == far.hash)
    client.advance(with: Swarm.Input())
    #expect(client.tick == Tick(51))
  }

  @Test func `a correction is blended within 100 ms, without a jump`() {
    var blend = PredictionBlend()
    blend.correct(from: (1, 2), to: (0, 0), at: .zero)
    var last = blend.offset(at: .zero)
    #expect(last == (1, 2))
    for step in 1...100 {
      let now = Instant.zero + .milliseconds(step)
      let offset = blend.offset(at: now)
      #expect(abs(offset.x - last.x) < 0.02)
      if step == 50 { blend.correct(from: (0, 0), to: (0.1, 0), at: now) }
      last = blend.offset(at: now)
    }
    #expect(blend.offset(at: .zero + .milliseconds(150)) == (0, 0))
  }

  @Test func `the position drawn after corrections never leaves the table`() {
    var generator = SeededGenerator(seed: 5)
    var view = RinkView()
    var now = Instant.zero
    var old = RinkState()
    for _ in 0..<scaled(debug: 500, release: 5_000) {
      now = now + .milliseconds(Int.random(in: 1...40, using: &generator))
      var new = RinkState()
      new.puck.position = LatticePoint(
        x: Int64.random(in: -4_000_000_000...4_000_000_000, using: &generator),
        y: Int64.random(in: -2_000_000_000...2_000_000_000, using: &generator))
      view.correct(from: old, to: new, at: now)
      let shown = view.shown(new, at: now + .milliseconds(5)).puck.position.vector
      #expect(shown.y.magnitude <= Preset.halfWidth - Preset.puckRadius + 1e-9)
      let mouth = Preset.goalHalfWidth - Preset.puckRadius
      let isDeep = shown.x.magnitude > Preset.halfLength - Preset.puckRadius + 1e-9
      #expect(!isDeep || shown.y.magnitude <= mouth + 1e-9)
      old = new
      #expect(view.shown(new, at: now + .milliseconds(101)).homeMallet == new.homeMallet)
    }
  }
}
