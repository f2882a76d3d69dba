import CaromCore
import CaromPhysics
import CaromSimulation
import Testing

@testable import AirHockey

/// What a host and a client do when seats change and when the line fails.
@Suite struct MatchSessionTests {
  private let rest = MalletInput(Vector(-0.75, 0))

  /// Delivers all due messages between a host and its client, after `host` has advanced.
  private func exchange(
    _ host: inout MatchHost, _ client: inout MatchClient, _ id: Int, at now: Instant,
    arrives: (RollbackMessage) -> Bool = { _ in true }
  ) throws {
    while let message = host.pollMessage() {
      guard message.recipient == id, arrives(message.kind) else { continue }
      try client.receive(message.kind, message.bytes.span, at: now)
    }
    while let (kind, bytes) = client.pollMessage() {
      if arrives(kind) { try host.server.receive(kind, bytes.span, from: id, at: now) }
    }
  }

  @Test func `a request before the first state waits for it`() throws {
    var host = MatchHost(at: .zero)
    var client = MatchClient(at: .zero)
    let id = host.addClient(returning: false)
    client.request(.pause)
    for _ in 0..<3 { client.step(nil) }
    #expect(client.state == nil && client.confirmed == nil)
    #expect(client.client.predictedTicks == 0 && client.client.keyframeCount == 0)
    var events: [RinkEvent] = []
    var now = Instant.zero
    for _ in 0..<10 {
      now = now + .nanoseconds(16_666_667)
      events += host.step(home: rest)
      try exchange(&host, &client, id, at: now)
      for _ in 0..<client.client.takeDueTicks(at: now) { client.step(nil) }
    }
    #expect(events == [.matchStarted, .paused(.away)])
    #expect(client.client.keyframeCount == 1 && client.state?.pauses == .away)
  }

  @Test func `a new client begins without what the home player had asked for before`() {
    for returning in [true, false] {
      var host = MatchHost(at: .zero)
      _ = host.addClient(returning: false)
      #expect(host.state.match == 0)
      #expect(host.step(home: rest) == [.matchStarted])
      for _ in 0..<2 { host.request(.pause) }
      host.removeClient()
      let (match, tick) = (host.state.match, host.state.tick)
      let id = host.addClient(returning: returning)
      #expect(host.client == id)
      #expect(host.step(home: rest) == (returning ? [] : [.matchStarted]))
      #expect(host.state.tick == tick.next)
      #expect(host.state.match == (returning ? match : match + 1))
      for _ in 0..<3 { #expect(host.step(home: rest) == []) }
      #expect(!host.state.isPaused)
    }
  }

  @Test func `a new client does not wait for the next match of the one before`() {
    var host = makeFinishedHost()
    #expect(host.state.phase == .matchEnd(winner: .home))
    let match = host.state.match
    for _ in 0..<100 { _ = host.step(home: rest) }
    _ = host.addClient(returning: false)
    #expect(host.step(home: rest) == [.matchStarted] && host.state.match == match + 1)
    var events: [RinkEvent] = []
    for _ in 0..<300 { events += host.step(home: rest) }
    #expect(!events.contains(.matchStarted) && host.state.match == match + 1)
  }

  @Test func `the next match of a match that is over while it is paused waits for the players`() {
    var host = makeFinishedHost()
    let match = host.state.match
    host.request(.pause)
    for _ in 0..<HomeRequests.restTicks + 10 { _ = host.step(home: rest) }
    #expect(host.state.match == match)
    host.request(.resume)
    #expect(host.step(home: rest) == [.resumed(.home)])
    #expect(host.step(home: rest) == [.matchStarted])
  }

  @Test func `a win in the tick in which a client returns is reported, and the rest begins`() {
    var host = MatchHost(at: .zero)
    _ = host.addClient(returning: false)
    var home = ComputerPlayer(.home, strength: .hard, seed: 1)
    var (before, player) = (host, home)
    var events: [RinkEvent] = []
    for _ in 0..<60_000 where !events.contains(.won(.home)) {
      (before, player) = (host, home)
      events = host.step(home: home.input(for: host.state))
    }
    var returned = before
    _ = returned.addClient(returning: true)
    #expect(returned.step(home: player.input(for: returned.state)) == events)
    #expect(returned.state.phase == .matchEnd(winner: .home))
    let match = host.state.match
    for _ in 0..<HomeRequests.restTicks + 10 {
      _ = (host.step(home: rest), returned.step(home: rest))
      #expect(returned.state.match == host.state.match)
    }
    #expect(returned.state.match == match + 1)
  }

  @Test(arguments: [(0, 0), (366, 0), (400, 2), (384, 1), (383, 0), (2_000, 30), (-40, 0)])
  func `a round trip beyond the window and a reserve delays the local inputs`(
    milliseconds: Int, delay: Int
  ) throws {
    var host = MatchHost(at: .zero)
    var client = MatchClient(at: .zero)
    let id = host.addClient(returning: false)
    // The state begins without a round trip, so that the game is a tick ahead.
    try exchange(&host, &client, id, at: .zero)
    client.client.roundTrip = .milliseconds(milliseconds)
    var reached: [Int] = []
    for index in 0..<40 {
      let before = client.state
      client.step(MalletInput(Vector(0.5, 0.2)))
      if client.state?.tick != before?.tick, client.state?.awayMallet != before?.awayMallet {
        reached.append(index)
      }
      _ = host.step(home: rest)
      try exchange(&host, &client, id, at: .zero) { $0 == .inputs }
    }
    #expect(reached.first == delay)
  }
}

@Suite struct RinkViewTests {
  private func makeState(puck: Vector) -> RinkState {
    var state = RinkState()
    state.puck.position = LatticePoint(puck)
    return state
  }

  /// Where the puck is drawn at once after a correction from one place to another.
  private func shown(from old: Vector, to new: Vector) -> Vector {
    var view = RinkView()
    let state = makeState(puck: new)
    view.correct(from: makeState(puck: old), to: state, at: .zero)
    return view.shown(state, at: .zero).puck.position.vector
  }

  @Test func `a correction is not seen at once, and ends after a tenth of a second`() {
    var view = RinkView()
    let old = makeState(puck: Vector(0.1, 0.2))
    var new = makeState(puck: Vector(0.3, 0.1))
    new.homeMallet = LatticePoint(Vector(-0.5, 0.1))
    new.awayMallet = LatticePoint(Vector(0.4, -0.1))
    view.correct(from: old, to: new, at: .zero)
    let first = view.shown(new, at: .zero)
    #expect((first.puck.position.vector - Vector(0.1, 0.2)).length < 1e-9)
    #expect((first.homeMallet.vector - old.homeMallet.vector).length < 1e-9)
    #expect((first.awayMallet.vector - old.awayMallet.vector).length < 1e-9)
    let half = view.shown(new, at: .zero + .milliseconds(50))
    #expect((half.puck.position.vector - Vector(0.2, 0.15)).length < 1e-9)
    #expect(view.shown(new, at: .zero + .milliseconds(100)) == new)
    // A state that is the same is no correction: the one before goes on.
    view.correct(from: new, to: new, at: .zero + .milliseconds(50))
    #expect(view.shown(new, at: .zero + .milliseconds(50)) == half)
  }

  @Test func `a correction of more than 60 cm is seen at once`() {
    #expect((shown(from: Vector(-0.2, 0), to: Vector(0.39, 0)) - Vector(-0.2, 0)).length < 1e-9)
    #expect((shown(from: Vector(-0.2, 0), to: Vector(0.41, 0)) - Vector(0.41, 0)).length < 1e-9)
  }

  @Test func `the drawn puck enters no rail, and reaches the goal line only in a mouth`() {
    let clear = 0.974 - 0.03165
    for side in [-1.0, 1] {
      // Before a rail beside the goal.
      var view = RinkView()
      var old = makeState(puck: Vector(side * 0.97, 0.05))
      var new = makeState(puck: Vector(side * 0.9, 0.3))
      view.correct(from: old, to: new, at: .zero)
      let beside = view.shown(new, at: .zero + .milliseconds(60)).puck.position.vector
      #expect(beside.y > 0.1 && abs(beside.x) <= clear + 1e-9)
      #expect(
        shown(from: Vector(side * 0.97, 0.2), to: Vector(side * 0.9, 0.2)).x.magnitude
          <= clear + 1e-9)
      #expect(
        abs(shown(from: Vector(side * 0.97, 0.05), to: Vector(side * 0.9, 0.05)).x - side * 0.97)
          < 1e-9)
      // Beyond the long rail.
      old = makeState(puck: Vector(0, side * 0.487))
      new = makeState(puck: Vector(0, side * 0.3))
      view = RinkView()
      view.correct(from: old, to: new, at: .zero)
      let moved = makeState(puck: Vector(0, side * 0.45))
      let long = view.shown(moved, at: .zero).puck.position
      #expect(long == LatticePoint(x: 0, y: Int64(side) * Bounds.puckY))
    }
  }

  @Test func `a drawn mallet does not leave its half`() {
    var view = RinkView()
    var old = RinkState()
    var new = RinkState()
    old.homeMallet = LatticePoint(Vector(-0.06, 0))
    new.homeMallet = LatticePoint(Vector(-0.3, 0))
    view.correct(from: old, to: new, at: .zero)
    new.homeMallet = LatticePoint(Vector(-0.1, 0))
    #expect(view.shown(new, at: .zero).homeMallet.x == -Bounds.malletNearX)
  }
}
