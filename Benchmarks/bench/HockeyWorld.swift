import AirHockey
import Carom

/// A match of air hockey: both mallets follow the puck, so that it is played and nobody thinks.
struct HockeyWorld: FramesWorld {
  private var match = HostedMatch()

  init(index: Int, entities: Int) {}

  mutating func receive(_ input: GuestInput) { match.receive(input) }

  mutating func step(at now: Instant) -> TableState {
    let puck = match.state.puck.position.vector
    _ = match.step(home: MalletInput(Vector(min(puck.x, -0.2), puck.y)))
    _ = match.takeEvents()
    return match.tableState(at: now)
  }

  static func input(_ tick: UInt64, seeing state: TableState?, at now: Instant) -> GuestInput {
    let puck = state?.rink.puck.position.vector ?? Vector(0.5, 0)
    let place = MalletInput(Vector(max(puck.x, 0.2), puck.y))
    return GuestInput(tick: Tick(tick), clock: now, mallet: place)
  }

  static func stamp(of state: TableState) -> (tick: UInt64, clock: Instant) {
    (state.rink.tick.rawValue, state.clock)
  }
}
