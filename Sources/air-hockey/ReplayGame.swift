import AirHockey
import AirHockeyTerminal
import CaromCore
import CaromSimulation
import CaromTransport

/// Plays a recorded match on the screen.
actor ReplayGame: LoopActor {
  /// The number of seconds that an arrow key skips.
  static let jump: Int64 = 5

  let loop: NetworkLoop
  private var replay: ReplayReader<Rink>
  private let title: String
  private var display: any GameDisplay = NoDisplay()
  private var isPaused = false
  private var ticker: Ticker?
  private var ending: CheckedContinuation<(DecodeError, Tick)?, Never>?

  init(_ replay: ReplayReader<Rink>, title: String, on loop: NetworkLoop) {
    self.replay = replay
    self.title = title
    self.loop = loop
  }

  /// Shows the replay until the user quits, then returns nil. If the file is damaged, returns the
  /// error and the last tick before the damage.
  func run(
    with makeDisplay: @Sendable () throws(CommandFailure) -> any GameDisplay
  ) async throws(CommandFailure) -> (DecodeError, Tick)? {
    display = try makeDisplay()
    return await withCheckedContinuation { continuation in
      ending = continuation
      ticker = Ticker(on: loop, owner: self, hertz: replay.header.rate) { game, tick in
        game.handle(tick)
      }
    }
  }

  private func handle(_ tick: Ticker.Tick) {
    if Interrupts.isRequested { return end(nil) }
    do throws(DecodeError) {
      for command in display.readCommands(at: tick.now) ?? [] {
        switch command {
        case .quit: return end(nil)
        case .pause, .proceed: isPaused.toggle()
        case .back: try move(by: -Self.jump)
        case .forth: try move(by: Self.jump)
        }
      }
      // At its end the replay stays on the screen, so that the user can go back.
      if !isPaused { _ = try replay.step() }
    } catch { return end((error, replay.tick)) }
    present()
  }

  private func move(by seconds: Int64) throws(DecodeError) {
    let ticks = seconds * Int64(replay.header.rate)
    let start = replay.header.start
    try replay.seek(
      to: max(start, start.advanced(by: max(0, start.distance(to: replay.tick) + ticks))))
  }

  private func present() {
    var view = TableView(replay.game.state, seenFrom: .home, names: ("home", "away"))
    let start = replay.header.start
    let time = { (tick: Tick) in
      let seconds = start.distance(to: tick) / Int64(self.replay.header.rate)
      let rest = seconds % 60
      return "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
    }
    view.status = "\(title) · \(time(replay.tick)) of \(time(replay.end))"
    display.present(view)
  }

  private func end(_ failure: (DecodeError, Tick)?) {
    ticker?.stop()
    ticker = nil
    display.close()
    ending?.resume(returning: failure)
    ending = nil
  }
}
