import CaromCore
import CaromSimulation
import Testing

@testable import AirHockey

/// A host, a guest and somebody who watches, without a network: what one sends comes to the others
/// some ticks later.
private struct Table {
  var host = HostedMatch(at: .zero)
  var guest = JoinedMatch(at: .zero)
  var watcher = JoinedMatch(isSpectator: true, at: .zero)
  var home = ComputerPlayer(.home, seed: 1)
  var away = ComputerPlayer(.away, seed: 2)
  /// What happened at the host.
  var events: [RinkEvent] = []
  /// What the guest was told of.
  var told: [(event: RinkEvent, state: RinkState)] = []
  var hashes: [Tick: UInt64] = [:]
  var clock = Instant(nanoseconds: 1_000)

  private let delay: Int
  private var seats: (guest: Int, watcher: Int) = (0, 0)
  private var down: [[TableMessage]] = []
  private var up: [[(Int, RollbackMessage, [UInt8])]] = []

  init(delay: Int = 0) {
    self.delay = delay
    guest.note(roundTrip: .milliseconds(delay * 33))
    seats.guest = host.seatGuest(same: false, at: clock)
    seats.watcher = host.addSpectator()
    hashes[host.state.tick] = host.state.hash
  }

  /// The guest leaves; it, or somebody else, comes again.
  mutating func reseat(same: Bool) {
    host.dismissGuest()
    guest = JoinedMatch(at: clock)
    guest.note(roundTrip: .milliseconds(delay * 33))
    (down, up) = ([], [])
    seats.guest = host.seatGuest(same: same, at: clock)
    hashes[host.state.tick] = host.state.hash
  }

  /// One tick of all; the guest's messages may be lost.
  mutating func step(guestIsHeard: Bool = true, hostIsHeard: Bool = true) throws {
    clock = clock + .nanoseconds(16_666_667)
    try deliver(guestIsHeard, hostIsHeard)
    events += host.step(home: home.input(for: host.state))
    hashes[host.state.tick] = host.state.hash
    stepGuest()
    for _ in 0..<watcher.takeDueTicks(at: clock) { watcher.step(nil, at: clock) }
    send()
  }

  private mutating func stepGuest() {
    for _ in 0..<guest.takeDueTicks(at: clock) {
      var mallet: MalletInput?
      if let state = guest.state { mallet = away.input(for: state) }
      guest.step(mallet, at: clock)
    }
    while let (event, state) = guest.pollEvent() { told.append((event, state)) }
  }

  private mutating func send() {
    var messages: [TableMessage] = []
    while let message = host.pollMessage() { messages.append(message) }
    down.append(messages)
    var answers: [(Int, RollbackMessage, [UInt8])] = []
    while let (kind, bytes) = guest.pollMessage() { answers.append((seats.guest, kind, bytes)) }
    while let (kind, bytes) = watcher.pollMessage() {
      answers.append((seats.watcher, kind, bytes))
    }
    up.append(answers)
  }

  private mutating func deliver(_ guestIsHeard: Bool, _ hostIsHeard: Bool) throws {
    guard down.count > delay else { return }
    for message in down.removeFirst() where hostIsHeard || message.kind == .keyframe {
      if message.watcher == seats.guest {
        try guest.receive(message.kind, message.bytes.span, at: clock)
      } else {
        try watcher.receive(message.kind, message.bytes.span, at: clock)
      }
    }
    for (from, kind, bytes) in up.removeFirst() where guestIsHeard || from != seats.guest {
      try host.receive(kind, bytes.span, from: from, at: clock)
    }
  }
}

@Suite struct HostedMatchTests {
  @Test(arguments: [0, 6])
  func `a whole match is the same at all ends, tick by tick, and tells each goal once`(
    delay: Int
  ) throws {
    var table = Table(delay: delay)
    for _ in 0..<60_000 where !table.told.contains(where: { $0.event.isWin }) {
      try table.step()
      for match in [table.guest, table.watcher] {
        guard let state = match.confirmed else { continue }
        #expect(table.hashes[state.tick] == state.hash)
      }
    }
    let goals = table.told.count { $0.event.isGoal }
    let end = try #require(table.told.first { $0.event.isWin })
    #expect(goals == Int(end.state.score.home) + Int(end.state.score.away))
    #expect(max(end.state.score.home, end.state.score.away) == Preset.goalsToWin)
    #expect(table.guest.desyncs == 0 && table.guest.beginnings == 1)
    #expect(table.guest.statistics.rollbacks > 0)
    #expect(table.guest.statistics.stalls == 0)
  }

  @Test func `a finished match is followed by another, after a rest`() throws {
    var table = Table()
    while !table.events.contains(where: \.isWin) { try table.step() }
    let count = table.events.count
    for _ in 0..<HostedMatch.restTicks { try table.step() }
    #expect(!table.events.dropFirst(count).contains(.matchStarted))
    for _ in 0..<10 { try table.step() }
    #expect(table.events.last == .matchStarted)
    #expect(table.host.state.score == Score())
    #expect(table.host.state.match == 2)
  }

  @Test func `a silent guest stops nothing, and goes on in step when it is heard again`() throws {
    var table = Table(delay: 2)
    for _ in 0..<60 { try table.step() }
    let before = table.host.state.tick
    for _ in 0..<100 { try table.step(guestIsHeard: false) }
    #expect(before.distance(to: table.host.state.tick) == 100)
    for _ in 0..<100 { try table.step() }
    let state = try #require(table.guest.confirmed)
    #expect(table.hashes[state.tick] == state.hash)
    #expect(before.distance(to: state.tick) > 150)
  }

  @Test func `a guest cannot leave its half or begin the match anew`() throws {
    var table = Table()
    for _ in 0..<20 { try table.step() }
    let match = table.host.state.match
    table.guest.ask(.restart)
    for _ in 0..<120 { try table.step() }
    #expect(table.host.state.match == match)
    var host = HostedMatch(at: .zero)
    _ = host.seatGuest(same: false, at: .zero)
    var rink = Rink(host.state)
    for _ in 0..<600 {
      let wild = RinkInput(MalletInput(x: -MalletInput.maximumX, y: 0))
      var events: [RinkEvent] = []
      rink.step([RinkInput(), wild].span, events: &events)
      #expect(rink.state[mallet: .away].x > 0)
    }
    #expect(rink.state.score == Score())
  }

  @Test func `a new guest begins at nil, and the same one finds its score and holds nothing`()
    throws
  {
    var table = Table()
    while !table.events.contains(where: \.isGoal) { try table.step() }
    table.guest.ask(.pause)
    for _ in 0..<20 { try table.step() }
    #expect(table.host.state.pauses == .away)
    let score = table.host.state.score
    table.reseat(same: true)
    for _ in 0..<5 { try table.step() }
    #expect(table.guest.state?.score == score)
    #expect(table.host.state.pauses == [])
    table.reseat(same: false)
    for _ in 0..<5 { try table.step() }
    #expect(table.host.state.score == Score() && table.guest.state?.score == Score())
    #expect(table.host.state.match == 2 && table.guest.state?.match == 2)
    let state = try #require(table.watcher.confirmed)
    #expect(table.hashes[state.tick] == state.hash)
  }

  @Test func `both sides agree on who holds the match, whoever asks first`() throws {
    var table = Table(delay: 3)
    for _ in 0..<30 { try table.step() }
    table.host.ask(.pause)
    table.guest.ask(.pause)
    for _ in 0..<30 { try table.step() }
    #expect(table.host.state.pauses == [.home, .away])
    table.guest.ask(.resume)
    for _ in 0..<30 { try table.step() }
    #expect(table.host.state.pauses == .home)
    #expect(table.guest.state?.pauses == .home)
    table.host.ask(.resume)
    for _ in 0..<30 { try table.step() }
    #expect(table.guest.state?.isPaused == false)
    let pauses = table.events.filter(\.isPause)
    #expect(pauses.count == 4)
    #expect(table.told.map(\.event).filter(\.isPause) == pauses)
  }

  @Test func `asking twice in a tick happens in two, and is told once where it changes nothing`()
    throws
  {
    var table = Table()
    table.host.ask(.pause)
    table.host.ask(.pause)
    table.host.ask(.resume)
    for _ in 0..<4 { try table.step() }
    #expect(table.events == [.paused(.home), .resumed(.home)])
  }

  @Test func `the own mallet moves at once, as the host will move it`() throws {
    var table = Table(delay: 4)
    for _ in 0..<200 { try table.step() }
    let state = try #require(table.guest.state)
    for _ in 0..<60 { try table.step() }
    // What the guest foretold of its own mallet is what was decided.
    let tick = state.tick
    let decided = try #require(table.guest.rollback?.state(at: tick)?.state)
    #expect(table.guest.confirmed.map { $0.tick >= tick } == true)
    #expect(decided[mallet: .away] == state[mallet: .away])
    #expect(table.guest.overruled == 0)
  }

  @Test func `a match that had to wait delays the own inputs, and waits no more`() throws {
    var table = Table(delay: 18)
    // It was told of a shorter way than there is.
    table.guest.note(roundTrip: .milliseconds(360))
    for _ in 0..<700 { try table.step() }
    let stalls = table.guest.statistics.stalls
    #expect(stalls > 0)
    for _ in 0..<scaled(debug: 100, release: 400) { try table.step() }
    #expect(table.guest.statistics.stalls == stalls)
  }

  @Test func `a round trip beyond what can be foretold delays the own inputs`() throws {
    var table = Table(delay: 22)
    for _ in 0..<300 { try table.step() }
    let (stalls, overruled) = (table.guest.statistics.stalls, table.guest.overruled)
    for _ in 0..<scaled(debug: 200, release: 2_000) { try table.step() }
    #expect(table.guest.statistics.stalls == stalls)
    #expect(table.guest.overruled == overruled)
    #expect(table.guest.desyncs == 0)
  }
}

@Suite struct MatchRecorderTests {
  private func play(_ recorder: MatchRecorder) throws -> ReplayReader<Rink> {
    var recorder = recorder
    var reader = try ReplayReader<Rink>(recorder.finish())
    while try reader.step() {}
    #expect(reader.isComplete && reader.header.title == MatchRecorder.title)
    return reader
  }

  @Test func `host, guest and watcher record one match`() throws {
    var table = Table(delay: 5)
    var host = MatchRecorder(table.host.state)
    var guest: MatchRecorder?
    var watcher: MatchRecorder?
    var hashes: [Tick: UInt64] = [:]
    for _ in 0..<1_500 {
      try table.step()
      host.record(table.host)
      if let state = table.guest.confirmed {
        guest = guest ?? MatchRecorder(state, beginning: table.guest.beginnings)
        let isRecorded = guest?.record(table.guest)
        #expect(isRecorded == true)
      }
      if let state = table.watcher.confirmed {
        watcher = watcher ?? MatchRecorder(state, beginning: table.watcher.beginnings)
        let isRecorded = watcher?.record(table.watcher)
        #expect(isRecorded == true)
      }
    }
    hashes = table.hashes
    for recorder in [host, try #require(guest), try #require(watcher)] {
      let replay = try play(recorder)
      #expect(replay.header.start.distance(to: replay.end) > 1_400)
      #expect(hashes[replay.tick] == replay.game.hash)
    }
  }

  @Test func `a match that began anew ends a recording`() throws {
    var table = Table()
    for _ in 0..<10 { try table.step() }
    let state = try #require(table.guest.confirmed)
    var recorder = MatchRecorder(state, beginning: table.guest.beginnings + 1)
    let isRecorded = recorder.record(table.guest)
    #expect(!isRecorded)
    _ = try play(recorder)
  }
}

extension RinkEvent {
  fileprivate var isGoal: Bool { if case .goal = self { true } else { false } }
  fileprivate var isWin: Bool { if case .won = self { true } else { false } }
  fileprivate var isPause: Bool {
    switch self {
    case .paused, .resumed: true
    default: false
    }
  }
}
