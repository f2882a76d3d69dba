import CaromCore
import CaromSimulation
import Testing

@testable import AirHockey

/// A host and a guest without a network: what one sends, the other receives.
private struct Table {
  var host = HostedMatch()
  var guest = JoinedMatch()
  var home = ComputerPlayer(.home, seed: 1)
  var away = ComputerPlayer(.away, seed: 2)
  var events: [TableEvent] = []
  var clock = Instant(nanoseconds: 1_000)

  /// One tick of both sides; the guest's message may be lost.
  mutating func step(guestIsHeard: Bool = true) {
    clock = clock + .nanoseconds(16_666_667)
    if let view = guest.view {
      let input = guest.step(away.input(for: view), at: clock)
      if guestIsHeard { host.receive(input) }
    }
    _ = host.step(home: home.input(for: host.state))
    for event in host.takeEvents() {
      events.append(event)
      guest.receive(event)
    }
    _ = guest.receive(host.tableState(at: clock))
  }
}

@Suite struct HostedMatchTests {
  @Test func `a whole match tells each goal once, and both sides agree on the score`() {
    var table = Table()
    var goals = 0
    for _ in 0..<60_000 where !table.events.contains(where: \.isMatchEnd) {
      table.step()
      goals = table.events.count(where: \.isGoal)
      #expect(goals == Int(table.host.state.score.home) + Int(table.host.state.score.away))
      #expect(table.guest.score == table.host.state.score)
    }
    let winner = table.events.first(where: \.isMatchEnd)
    #expect(winner.map { max($0.score.home, $0.score.away) } == Preset.goalsToWin)
    #expect(goals >= 7)
  }

  @Test func `a finished match is followed by another, after a rest`() {
    var table = Table()
    while !table.events.contains(where: \.isMatchEnd) { table.step() }
    for _ in 0..<HostedMatch.restTicks { table.step() }
    #expect(table.events.last?.kind == .matchStarted)
    #expect(table.host.state.score == Score())
    #expect(table.host.state.match == 2)
  }

  @Test func `a silent guest stops nothing`() {
    var table = Table()
    for _ in 0..<60 { table.step() }
    let before = table.host.state.tick.rawValue
    for _ in 0..<600 { table.step(guestIsHeard: false) }
    #expect(table.host.state.tick.rawValue == before + 600)
    #expect(table.guest.latest?.inputTick == table.host.guestInput?.tick)
  }

  @Test func `an older input never comes after a newer one`() {
    var host = HostedMatch()
    let input = { (tick: UInt64, x: Int16) in
      GuestInput(tick: Tick(tick), clock: .zero, mallet: MalletInput(x: x, y: 0))
    }
    host.receive(input(5, 5_000))
    host.receive(input(4, 4_000))
    host.receive(input(5, 3_000))
    #expect(host.guestInput == input(5, 5_000))
  }

  @Test func `a guest cannot move puck or score, or leave its half`() {
    var host = HostedMatch()
    for tick in 1...600 {
      host.receive(
        GuestInput(
          tick: Tick(UInt64(tick)), clock: .zero,
          mallet: MalletInput(x: -MalletInput.maximumX, y: 0)))
      _ = host.step(home: MalletInput(x: -7_000, y: 0))
      #expect(host.state[mallet: .away].x > 0)
    }
    #expect(host.state.score == Score())
  }

  @Test func `a state for the guest leaves out the guest's mallet`() throws {
    var host = HostedMatch()
    host.receive(
      GuestInput(tick: Tick(1), clock: .zero, mallet: MalletInput(x: 3_000, y: 2_000)))
    for _ in 0..<60 { _ = host.step(home: MalletInput(x: -7_000, y: 100)) }
    let bytes = host.tableState(at: .zero).encoded
    let read = try TableState(decoding: bytes.span)
    #expect(bytes.count == 90)
    #expect(read.rink[mallet: .home] == host.state[mallet: .home])
    #expect(read.rink[mallet: .away] == RinkState()[mallet: .away])
  }

  @Test func `a new guest begins at nil`() {
    var table = Table()
    while table.events.allSatisfy({ !$0.isGoal }) { table.step() }
    table.host.seatGuest()
    #expect(table.host.state.score == Score())
    #expect(table.host.guestInput == nil)
  }

  @Test func `a guest who left at once leaves nothing to tell the next`() {
    var host = HostedMatch()
    host.seatGuest()
    host.seatGuest()
    let events = host.takeEvents()
    #expect(events.map(\.kind) == [.matchStarted])
    #expect(events.map(\.match) == [3])
  }
}

@Suite struct PauseTests {
  /// Every order of the two sides' requests, the guest's coming later or sooner.
  @Test(arguments: 0..<16)
  func `both sides agree on who holds the match, whatever the order`(bits: Int) {
    var host = HostedMatch()
    var guest = JoinedMatch()
    let commands: [RinkCommand] = [
      .pause(.home), .pause(.away), .resume(.home), .resume(.away),
    ]
    // Each bit moves one command to the back of the queue.
    let order =
      commands.enumerated().filter { bits >> $0.offset & 1 == 0 }.map(\.element)
      + commands.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)
    var told: [TableEvent] = []
    for command in order {
      host.apply(command)
      told += host.takeEvents()
      _ = host.step(home: MalletInput(x: -7_000, y: 0))
      _ = guest.receive(host.tableState(at: .zero))
    }
    #expect(guest.latest?.rink.pauses == host.state.pauses)
    // What was told, replayed, gives the same as what was sent.
    var pauses: Pauses = []
    for event in told {
      if case .paused(let seat) = event.kind { pauses.insert(.of(seat)) }
      if case .resumed(let seat) = event.kind { pauses.remove(.of(seat)) }
    }
    #expect(pauses == host.state.pauses)
  }

  @Test func `one side's resume does not lift the other's pause`() {
    var host = HostedMatch()
    host.apply(.pause(.home))
    host.apply(.pause(.away))
    host.apply(.resume(.away))
    #expect(host.state.isPaused)
    let puck = host.state.puck
    for _ in 0..<300 { _ = host.step(home: MalletInput(x: 0, y: 0)) }
    #expect(host.state.puck == puck)
  }

  @Test func `pausing twice is told once`() {
    var host = HostedMatch()
    _ = host.takeEvents()
    host.apply(.pause(.away))
    host.apply(.pause(.away))
    #expect(host.takeEvents().map(\.kind) == [.paused(.away)])
  }
}

@Suite struct JoinedMatchTests {
  @Test func `a stale state is dropped and counted`() {
    var host = HostedMatch()
    var guest = JoinedMatch()
    _ = host.step(home: MalletInput(x: -7_000, y: 0))
    let first = host.tableState(at: .zero)
    _ = host.step(home: MalletInput(x: -7_000, y: 0))
    let second = host.tableState(at: .zero)
    let answers = [second, first, second].map { guest.receive($0) }
    #expect(answers == [true, false, false])
    #expect(guest.staleStates == 2)
  }

  @Test func `the own mallet moves at once, as the host will move it`() {
    var table = Table()
    for _ in 0..<400 { table.step() }
    let view = table.guest.view
    // The host has the guest's last input already, so both must agree exactly.
    #expect(view?[mallet: .away] == table.host.state[mallet: .away])
  }

  @Test func `the score is the newest tick's, in whatever order states and events come`() {
    func event(_ tick: UInt64, _ home: UInt8, _ kind: TableEvent.Kind) -> TableEvent {
      TableEvent(tick: Tick(tick), kind: kind, match: 1, score: Score(home: home, away: 0))
    }
    func state(_ tick: UInt64, _ home: UInt8) -> TableState {
      var rink = RinkState(tick: Tick(tick))
      rink.score = Score(home: home, away: 0)
      return TableState(clock: .zero, inputTick: .zero, rink: rink)
    }
    var guest = JoinedMatch()
    _ = guest.receive(state(9, 0))
    guest.receive(event(11, 1, .goal(.home)))
    _ = guest.receive(state(10, 0))
    #expect(guest.score.home == 1)
    _ = guest.receive(state(20, 2))
    guest.receive(event(15, 2, .goal(.home)))
    guest.receive(event(21, 2, .sessionEnded))
    _ = guest.receive(state(21, 2))
    #expect(guest.score.home == 2)
  }

  @Test func `a guest who comes back sees the score in its first state`() {
    var table = Table()
    while table.events.allSatisfy({ !$0.isGoal }) { table.step() }
    var again = JoinedMatch()
    _ = again.receive(table.host.tableState(at: .zero))
    #expect(again.score == table.host.state.score)
  }
}

extension TableEvent {
  fileprivate var isGoal: Bool { if case .goal = kind { true } else { false } }
  fileprivate var isMatchEnd: Bool { if case .matchEnded = kind { true } else { false } }
}
