import CaromCore
import CaromSimulation
import Testing

@testable import AirHockey

/// A host, a client and a spectator without a network. Messages arrive a fixed number of ticks
/// after they were sent.
private struct MatchTrio {
  var host = MatchHost(at: .zero)
  var client = MatchClient(at: .zero)
  var spectator = MatchClient(isSpectator: true, at: .zero)
  var home = ComputerPlayer(.home, seed: 1)
  var away = ComputerPlayer(.away, seed: 2)
  /// The events of the host.
  var events: [RinkEvent] = []
  /// The confirmed events of the client.
  var confirmedEvents: [(event: RinkEvent, state: RinkState)] = []
  /// Whether the host, or the client, has reported the end of a match.
  var (isWon, isWinConfirmed) = (false, false)
  var hashes: [Tick: UInt64] = [:]
  var clock = Instant(nanoseconds: 1_000)

  private let delay: Int
  private var ids: (client: Int, spectator: Int) = (0, 0)
  private var down: [[MatchMessage]] = []
  private var up: [[(Int, RollbackMessage, [UInt8])]] = []

  init(delay: Int = 0) {
    self.delay = delay
    client.client.roundTrip = .milliseconds(delay * 33)
    ids.client = host.addClient(returning: false)
    ids.spectator = host.server.addSpectator()
    hashes[host.state.tick] = host.state.hash
  }

  /// Removes the client, then adds it again, or another one.
  mutating func replaceClient(returning: Bool) {
    host.removeClient()
    client = MatchClient(at: clock)
    client.client.roundTrip = .milliseconds(delay * 33)
    (down, up) = ([], [])
    ids.client = host.addClient(returning: returning)
    hashes[host.state.tick] = host.state.hash
  }

  /// Simulates one tick on all sides. Messages of the client and of the host can be lost; keyframes
  /// are not.
  mutating func step(clientArrives: Bool = true, hostArrives: Bool = true) throws {
    clock = clock + .nanoseconds(16_666_667)
    try deliver(clientArrives, hostArrives)
    let new = host.step(home: home.input(for: host.state))
    events += new
    if new.contains(where: \.isWin) { isWon = true }
    hashes[host.state.tick] = host.state.hash
    stepClient()
    for _ in 0..<spectator.client.takeDueTicks(at: clock) { spectator.step(nil) }
    send()
  }

  private mutating func stepClient() {
    for _ in 0..<client.client.takeDueTicks(at: clock) {
      var mallet: MalletInput?
      if let state = client.state { mallet = away.input(for: state) }
      client.step(mallet)
    }
    while let (event, state) = client.pollEvent() {
      confirmedEvents.append((event, state))
      if event.isWin { isWinConfirmed = true }
    }
  }

  private mutating func send() {
    var messages: [MatchMessage] = []
    while let message = host.pollMessage() { messages.append(message) }
    down.append(messages)
    var answers: [(Int, RollbackMessage, [UInt8])] = []
    while let (kind, bytes) = client.pollMessage() { answers.append((ids.client, kind, bytes)) }
    while let (kind, bytes) = spectator.pollMessage() {
      answers.append((ids.spectator, kind, bytes))
    }
    up.append(answers)
  }

  private mutating func deliver(_ clientArrives: Bool, _ hostArrives: Bool) throws {
    guard down.count > delay else { return }
    for message in down.removeFirst() where hostArrives || message.kind == .keyframe {
      if message.recipient == ids.client {
        try client.receive(message.kind, message.bytes.span, at: clock)
      } else {
        try spectator.receive(message.kind, message.bytes.span, at: clock)
      }
    }
    for (from, kind, bytes) in up.removeFirst() where clientArrives || from != ids.client {
      try host.server.receive(kind, bytes.span, from: from, at: clock)
    }
  }
}

@Suite struct HostedMatchTests {
  @Test(arguments: [0, 6])
  func `a match is the same on all sides at every tick, and reports each goal once`(
    delay: Int
  ) throws {
    var match = MatchTrio(delay: delay)
    for _ in 0..<60_000 where !match.isWinConfirmed {
      try match.step()
      for side in [match.client, match.spectator] {
        guard let state = side.confirmed else { continue }
        #expect(match.hashes[state.tick] == state.hash)
      }
    }
    let goals = match.confirmedEvents.count { $0.event.isGoal }
    let end = try #require(match.confirmedEvents.first { $0.event.isWin })
    #expect(goals == Int(end.state.score.home) + Int(end.state.score.away))
    #expect(max(end.state.score.home, end.state.score.away) == Preset.goalsToWin)
    #expect(match.client.desyncs == 0 && match.client.client.keyframeCount == 1)
    #expect(match.client.statistics.rollbacks > 0)
    #expect(match.client.statistics.stalls == 0)
  }

  @Test func `a finished match is followed by another after the rest time`() throws {
    var match = MatchTrio()
    while !match.isWon { try match.step() }
    let count = match.events.count
    for _ in 0..<HomeRequests.restTicks { try match.step() }
    #expect(!match.events.dropFirst(count).contains(.matchStarted))
    for _ in 0..<10 { try match.step() }
    #expect(match.events.last == .matchStarted)
    #expect(match.host.state.score == Score())
    #expect(match.host.state.match == 2)
  }

  @Test func `the next match starts once, also if a player's requests come first`()
    throws
  {
    var match = MatchTrio()
    while !match.isWon { try match.step() }
    for _ in 0..<HomeRequests.restTicks { try match.step() }
    let count = match.events.count
    match.host.request(.pause)
    match.host.request(.resume)
    for _ in 0..<3 { try match.step() }
    match.host.request(.pause)
    try match.step()
    #expect(
      match.events.dropFirst(count) == [
        .paused(.home), .resumed(.home), .matchStarted, .paused(.home),
      ])
  }

  @Test
  func `a silent client does not stop the match, and is in sync again when its messages arrive`()
    throws
  {
    var match = MatchTrio(delay: 2)
    for _ in 0..<60 { try match.step() }
    let before = match.host.state.tick
    for _ in 0..<100 { try match.step(clientArrives: false) }
    #expect(before.distance(to: match.host.state.tick) == 100)
    for _ in 0..<100 { try match.step() }
    let state = try #require(match.client.confirmed)
    #expect(match.hashes[state.tick] == state.hash)
    #expect(before.distance(to: state.tick) > 150)
  }

  @Test func `a client cannot leave its half or restart the match`() throws {
    var match = MatchTrio()
    for _ in 0..<20 { try match.step() }
    let number = match.host.state.match
    match.client.request(.restart)
    for _ in 0..<120 { try match.step() }
    #expect(match.host.state.match == number)
    var host = MatchHost(at: .zero)
    _ = host.addClient(returning: false)
    var rink = Rink(host.state)
    for _ in 0..<600 {
      let wild = RinkInput(MalletInput(x: -MalletInput.maximumX, y: 0))
      var events: [RinkEvent] = []
      rink.step([RinkInput(), wild].span, events: &events)
      #expect(rink.state[mallet: .away].x > 0)
    }
    #expect(rink.state.score == Score())
  }

  @Test func `a new client begins at 0-0, and a returning one keeps its score but not its pause`()
    throws
  {
    var match = MatchTrio()
    while !match.events.contains(where: \.isGoal) { try match.step() }
    match.client.request(.pause)
    for _ in 0..<20 { try match.step() }
    #expect(match.host.state.pauses == .away)
    let score = match.host.state.score
    match.replaceClient(returning: true)
    for _ in 0..<5 { try match.step() }
    #expect(match.client.state?.score == score)
    #expect(match.host.state.pauses == [])
    match.replaceClient(returning: false)
    for _ in 0..<5 { try match.step() }
    #expect(match.host.state.score == Score() && match.client.state?.score == Score())
    #expect(match.host.state.match == 2 && match.client.state?.match == 2)
    let state = try #require(match.spectator.confirmed)
    #expect(match.hashes[state.tick] == state.hash)
  }

  @Test func `both sides agree on the pauses, in whatever order they are requested`() throws {
    var match = MatchTrio(delay: 3)
    for _ in 0..<30 { try match.step() }
    match.host.request(.pause)
    match.client.request(.pause)
    for _ in 0..<30 { try match.step() }
    #expect(match.host.state.pauses == [.home, .away])
    match.client.request(.resume)
    for _ in 0..<30 { try match.step() }
    #expect(match.host.state.pauses == .home)
    #expect(match.client.state?.pauses == .home)
    match.host.request(.resume)
    for _ in 0..<30 { try match.step() }
    #expect(match.client.state?.isPaused == false)
    let pauses = match.events.filter(\.isPause)
    #expect(pauses.count == 4)
    #expect(match.confirmedEvents.map(\.event).filter(\.isPause) == pauses)
  }

  @Test
  func `two requests in one tick take effect in two ticks, and one without effect causes no event`()
    throws
  {
    var match = MatchTrio()
    try match.step()
    match.host.request(.pause)
    match.host.request(.pause)
    match.host.request(.resume)
    for _ in 0..<4 { try match.step() }
    #expect(match.events == [.matchStarted, .paused(.home), .resumed(.home)])
  }

  @Test func `the local mallet moves at once, exactly as on the host`() throws {
    var match = MatchTrio(delay: 4)
    for _ in 0..<200 { try match.step() }
    let state = try #require(match.client.state)
    for _ in 0..<60 { try match.step() }
    // The client's prediction of its own mallet was confirmed.
    let tick = state.tick
    let confirmed = try #require(match.client.client.rollback?.state(at: tick)?.state)
    #expect(match.client.confirmed.map { $0.tick >= tick } == true)
    #expect(confirmed[mallet: .away] == state[mallet: .away])
    #expect(match.client.client.overriddenInputs == 0)
  }

  @Test func `stalls delay the local inputs until no more stalls occur`() throws {
    var match = MatchTrio(delay: 18)
    // The reported round trip is shorter than the actual one.
    match.client.client.roundTrip = .milliseconds(360)
    for _ in 0..<700 { try match.step() }
    let stalls = match.client.statistics.stalls
    #expect(stalls > 0)
    for _ in 0..<scaled(debug: 100, release: 400) { try match.step() }
    #expect(match.client.statistics.stalls == stalls)
  }

  @Test func `a round trip beyond the prediction window delays the local inputs`() throws {
    var match = MatchTrio(delay: 22)
    for _ in 0..<300 { try match.step() }
    let (stalls, overriddenInputs) = (
      match.client.statistics.stalls, match.client.client.overriddenInputs
    )
    for _ in 0..<scaled(debug: 200, release: 2_000) { try match.step() }
    #expect(match.client.statistics.stalls == stalls)
    #expect(match.client.client.overriddenInputs == overriddenInputs)
    #expect(match.client.desyncs == 0)
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

  @Test func `host, client and spectator record the same match`() throws {
    var match = MatchTrio(delay: 5)
    var host = MatchRecorder(match.host.state)
    var client: MatchRecorder?
    var spectator: MatchRecorder?
    var hashes: [Tick: UInt64] = [:]
    for _ in 0..<1_500 {
      try match.step()
      host.record(match.host.server)
      if let state = match.client.confirmed {
        client = client ?? MatchRecorder(state, keyframeCount: match.client.client.keyframeCount)
        let isRecorded = client?.record(match.client.client)
        #expect(isRecorded == true)
      }
      if let state = match.spectator.confirmed {
        spectator =
          spectator ?? MatchRecorder(state, keyframeCount: match.spectator.client.keyframeCount)
        let isRecorded = spectator?.record(match.spectator.client)
        #expect(isRecorded == true)
      }
    }
    hashes = match.hashes
    for recorder in [host, try #require(client), try #require(spectator)] {
      let replay = try play(recorder)
      #expect(replay.header.start.distance(to: replay.end) > 1_400)
      #expect(hashes[replay.tick] == replay.game.hash)
    }
  }

  @Test func `a new keyframe ends a recording`() throws {
    var match = MatchTrio()
    for _ in 0..<10 { try match.step() }
    let state = try #require(match.client.confirmed)
    var recorder = MatchRecorder(state, keyframeCount: match.client.client.keyframeCount + 1)
    let isRecorded = recorder.record(match.client.client)
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
