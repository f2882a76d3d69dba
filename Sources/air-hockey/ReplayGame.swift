import AirHockey
import AirHockeyTerminal
import CaromCore
import CaromSimulation
import CaromTransport

/// A recorded match on the screen, on a loop of its own.
actor ReplayGame: LoopActor {
  /// How far the arrows go: five seconds.
  static let leap: Int64 = 5

  let loop: NetworkLoop
  private var replay: ReplayReader<Rink>
  private let title: String
  private var face: any GameFace = SilentFace()
  private var isHeld = false
  private var ticker: Ticker?
  private var ending: CheckedContinuation<(DecodeError, Tick)?, Never>?

  init(_ replay: ReplayReader<Rink>, title: String, on loop: NetworkLoop) {
    self.replay = replay
    self.title = title
    self.loop = loop
  }

  /// Shows it until its end or until somebody quits; what was wrong with it.
  func run(
    with makeFace: @Sendable () throws(CommandFailure) -> any GameFace
  ) async throws(CommandFailure) -> (DecodeError, Tick)? {
    face = try makeFace()
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
      for command in face.commands(at: tick.now) {
        switch command {
        case .quit: return end(nil)
        case .pause, .proceed: isHeld.toggle()
        case .back: try go(-Self.leap)
        case .forth: try go(Self.leap)
        }
      }
      // At the end it stands still, so that one can go back.
      if !isHeld { _ = try replay.step() }
    } catch { return end((error, replay.tick)) }
    present()
  }

  private func go(_ seconds: Int64) throws(DecodeError) {
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
    face.present(view)
  }

  private func end(_ failure: (DecodeError, Tick)?) {
    ticker?.stop()
    ticker = nil
    face.close()
    ending?.resume(returning: failure)
    ending = nil
  }
}
