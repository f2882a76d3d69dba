import AirHockey
import AirHockeyTerminal
import CaromCore
import CaromTransport

/// A match at one machine: people, computers, or both, on a loop of its own.
actor LocalGame: LoopActor {
  /// Who plays a seat.
  enum Player: Sendable {
    /// Whoever sits at the terminal.
    case person(String)
    case computer(String, ComputerPlayer)

    var name: String {
      switch self {
      case .person(let name), .computer(let name, _): name
      }
    }
  }

  /// After a suspended process went on, at most this many ticks are made up for: half a second.
  static let mostMissedTicks: Int64 = 30
  /// How long a match's end is shown, in ticks: five seconds.
  static let intermission = 300

  let loop: NetworkLoop

  private var face: any GameFace = SilentFace()
  private var home: Player
  private var away: Player
  private let tickLimit: Int?
  private var rink = Rink()
  private var summary = Summary(role: "local")
  private var tickJitter = JitterMeter()
  private var stateAge = JitterMeter()
  private var rate = RateMeter()
  private var ticksSinceEnd = 0
  private var request: RinkInput.Request?
  private var events: [RinkEvent] = []
  private let recordingPath: String?
  private var recording: RecordingFile?
  private var ticker: Ticker?
  private var ending: CheckedContinuation<Summary, Never>?

  /// A game between these two; `tickLimit` ends it.
  init(
    on loop: NetworkLoop, home: Player, away: Player, tickLimit: Int?, recording: String? = nil
  ) {
    recordingPath = recording
    self.loop = loop
    self.home = home
    self.away = away
    self.tickLimit = tickLimit
    summary.peer = away.name
  }

  /// Plays, shown by the face that `makeFace` makes, until somebody ends it. What it came to.
  func run(
    with makeFace: @Sendable () throws(CommandFailure) -> any GameFace
  ) async throws(CommandFailure) -> Summary {
    face = try makeFace()
    do throws(CommandFailure) {
      recording = try recordingPath.map { path throws(CommandFailure) in try .init(path) }
    } catch {
      face.close()
      throw error
    }
    recording?.begin(rink.state)
    return await withCheckedContinuation { continuation in
      ending = continuation
      face.tell("\(home.name) against \(away.name)")
      ticker = Ticker(on: loop, owner: self, hertz: Preset.ticksPerSecond) { game, tick in
        game.handle(tick)
      }
    }
  }

  private func handle(_ tick: Ticker.Tick) {
    tickJitter.record(tick.lateness)
    rate.record(Int(tick.missed) + 1, at: tick.now)
    if Interrupts.isRequested { return end("interrupted") }
    for command in face.commands(at: tick.now) {
      if command == .quit { return end("quit") }
      carryOut(command)
    }
    for _ in 0...min(tick.missed, Self.mostMissedTicks) {
      step(at: tick.now)
      if summary.ticks == tickLimit { return end("time is up") }
    }
    present(tick)
  }

  private func carryOut(_ command: Controls.Command) {
    switch command {
    case .pause: request = rink.state.isPaused ? .resume : .pause
    case .proceed: request = rink.state.isPaused ? .resume : .startMatch
    case .quit, .back, .forth: break
    }
  }

  private func step(at now: Instant) {
    let state = rink.state
    let first = input(of: &home, in: state) { face, state in
      face.input(of: .home, in: state, at: now)
    }
    let second = input(of: &away, in: state) { face, state in
      face.sampleSecond(mallet: state.awayMallet.vector, at: now)
    }
    let inputs = [
      RinkInput(first ?? MalletInput(state.homeMallet.vector), request: request),
      RinkInput(second ?? MalletInput(state.awayMallet.vector)),
    ]
    request = nil
    events.removeAll(keepingCapacity: true)
    rink.step(inputs.span, events: &events)
    recording?.record(home: inputs[0], away: inputs[1], leadingTo: rink.state)
    if let line = recording?.takeTrouble() {
      summary.recordingTrouble = line
      face.tell(line)
    }
    summary.ticks += 1
    for event in events { tell(event) }
    guard case .matchEnd = rink.state.phase else { return ticksSinceEnd = 0 }
    ticksSinceEnd += 1
    if ticksSinceEnd >= Self.intermission { request = .startMatch }
  }

  private func input(
    of player: inout Player, in state: RinkState,
    _ person: (inout any GameFace, RinkState) -> MalletInput?
  ) -> MalletInput? {
    guard case .computer(let name, var computer) = player else { return person(&face, state) }
    let input = computer.input(for: state)
    player = .computer(name, computer)
    return input
  }

  private func tell(_ event: RinkEvent) {
    let name = { (seat: Seat) in (seat == .home ? self.home : self.away).name }
    let score = rink.state.score
    switch event {
    case .goal(let scorer): face.tell("goal for \(name(scorer)): \(score)")
    case .won(let winner):
      summary.matches += 1
      face.tell("\(name(winner)) wins the match \(score)")
    default: break
    }
  }

  private func present(_ tick: Ticker.Tick) {
    var view = TableView(rink.state, seenFrom: .home, names: (home.name, away.name))
    view.status = "\(rate.perSecond) Hz"
    face.present(view)
    summary.frames += 1
    stateAge.record(loop.now - tick.due)
  }

  private func end(_ reason: String) {
    ticker?.stop()
    ticker = nil
    recording?.finish()
    summary.recordingTrouble = recording?.takeTrouble() ?? summary.recordingTrouble
    face.close()
    summary.score = rink.state.score.description
    summary.endReason = reason
    summary.take(tickJitter: tickJitter, stateAge: stateAge)
    ending?.resume(returning: summary)
    ending = nil
  }
}
