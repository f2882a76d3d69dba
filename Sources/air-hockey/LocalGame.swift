import AirHockey
import AirHockeyTerminal
import CaromCore
import CaromTransport

/// A match that uses no network, between people, computer players, or one of each.
actor LocalGame: LoopActor {
  /// The player of a seat.
  enum Player: Sendable {
    /// A person at the terminal, with a name.
    case person(String)
    case computer(String, ComputerPlayer)

    var name: String {
      switch self {
      case .person(let name), .computer(let name, _): name
      }
    }
  }

  /// The maximum number of missed ticks that are simulated in one frame, for example after the
  /// process was suspended: half a second.
  static let missedTickLimit: Int64 = 30
  /// The time between the end of a match and the start of the next one, in ticks: five seconds.
  static let intermission = 300

  let loop: NetworkLoop

  private var display: any GameDisplay = NoDisplay()
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
  private var inputWatch: DescriptorWatch?
  private var ticker: Ticker?
  private var ending: CheckedContinuation<Summary, Never>?

  /// Creates a game between two players. The game ends after `tickLimit` ticks; if `tickLimit` is
  /// nil, it has no time limit.
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

  /// Plays until the time limit, or until a player quits, and returns the summary.
  func run(
    with makeDisplay: @Sendable () throws(CommandFailure) -> any GameDisplay
  ) async throws(CommandFailure) -> Summary {
    display = try makeDisplay()
    do throws(CommandFailure) {
      recording = try recordingPath.map { path throws(CommandFailure) in try .init(path) }
    } catch {
      display.close()
      throw error
    }
    recording?.begin(rink.state)
    return await withCheckedContinuation { continuation in
      ending = continuation
      watchInput()
      display.write("\(home.name) against \(away.name)")
      ticker = Ticker(on: loop, owner: self, hertz: Preset.ticksPerSecond) { game, tick in
        game.handle(tick)
      }
    }
  }

  private func watchInput() {
    guard let descriptor = display.inputDescriptor else { return }
    // Without a watch, input is read before each tick only.
    inputWatch = try? DescriptorWatch(on: loop, owner: self, descriptor: descriptor) { game in
      game.inputArrived()
    }
  }

  private func handle(_ tick: Ticker.Tick) {
    tickJitter.record(tick.lateness)
    rate.record(Int(tick.missed) + 1, at: tick.now)
    if Interrupts.isRequested { return end("interrupted") }
    if display.hasLostReader {
      summary.status = .ioFailed
      return end(Summary.outputLost)
    }
    carryOut(display.readCommands(at: tick.now) ?? [])
    guard ending != nil else { return }
    for _ in 0...min(tick.missed, Self.missedTickLimit) {
      step(at: tick.now)
      if summary.ticks == tickLimit { return end("time is up") }
    }
    present(tick)
  }

  /// Reads input as soon as it arrives, so that the input counts in the next tick.
  private func inputArrived() {
    guard ending != nil, let commands = display.readCommands(at: loop.now) else {
      // A terminal that has hung up is always readable, but has nothing to read.
      inputWatch = nil
      return
    }
    carryOut(commands)
  }

  private func carryOut(_ commands: [Controls.Command]) {
    for command in commands {
      switch command {
      case .quit: return end("quit")
      case .pause: request = rink.state.isPaused ? .resume : .pause
      case .proceed: request = rink.state.isPaused ? .resume : .startMatch
      case .back, .forth: break
      }
    }
  }

  private func step(at now: Instant) {
    let state = rink.state
    let first = input(of: &home, in: state) { display, state in
      display.input(of: .home, in: state, at: now)
    }
    let second = input(of: &away, in: state) { display, state in
      display.sampleSecond(mallet: state.awayMallet.vector, at: now)
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
      display.write(line)
    }
    summary.ticks += 1
    for event in events { show(event) }
    guard case .matchEnd = rink.state.phase else { return ticksSinceEnd = 0 }
    ticksSinceEnd += 1
    if ticksSinceEnd >= Self.intermission { request = .startMatch }
  }

  private func input(
    of player: inout Player, in state: RinkState,
    _ person: (inout any GameDisplay, RinkState) -> MalletInput?
  ) -> MalletInput? {
    guard case .computer(let name, var computer) = player else { return person(&display, state) }
    let input = computer.input(for: state)
    player = .computer(name, computer)
    return input
  }

  private func show(_ event: RinkEvent) {
    let name = { (seat: Seat) in (seat == .home ? self.home : self.away).name }
    let score = rink.state.score
    switch event {
    case .goal(let scorer): display.write("goal for \(name(scorer)): \(score)")
    case .won(let winner):
      summary.games += 1
      display.write("\(name(winner)) wins the game \(score)")
    default: break
    }
  }

  private func present(_ tick: Ticker.Tick) {
    var view = TableView(rink.state, seenFrom: .home, names: (home.name, away.name))
    view.status = "\(rate.perSecond) Hz"
    display.present(view)
    summary.frames += 1
    stateAge.record(loop.now - tick.due)
  }

  private func end(_ reason: String) {
    ticker?.stop()
    (ticker, inputWatch) = (nil, nil)
    recording?.finish()
    summary.recordingTrouble = recording?.takeTrouble() ?? summary.recordingTrouble
    display.close()
    summary.score = rink.state.score
    summary.endReason = reason
    summary.timing = Summary.Timing(tickJitter: tickJitter, stateAge: stateAge)
    ending?.resume(returning: summary)
    ending = nil
  }
}
