import AirHockey
import AirHockeyTerminal
import CaromCore
import CaromPhysics

/// How a match meets the people at this machine. A game asks it for input once a tick, and shows
/// it each new state; it belongs to whoever runs the game.
protocol GameFace {
  /// What people asked for since the last call.
  mutating func commands(at now: Instant) -> [Controls.Command]

  /// Where the first person's mallet shall go, as that person sees the table: the own goal at the
  /// left. `nil` where nobody can say.
  mutating func sampleFirst(mallet: Vector, at now: Instant) -> MalletInput?

  /// The same for a second person, who sits at the right.
  mutating func sampleSecond(mallet: Vector, at now: Instant) -> MalletInput?

  /// Shows a moment of the game.
  mutating func present(_ view: TableView)

  /// Tells of an event in one line, where lines are what is shown.
  mutating func tell(_ line: String)

  /// Gives back what it took.
  mutating func close()
}

extension GameFace {
  /// The input of the person at this machine, who plays `seat`, turned to where the seat is.
  mutating func input(of seat: Seat, in state: RinkState, at now: Instant) -> MalletInput? {
    let own = seat == .home ? state : state.mirrored
    let input = sampleFirst(mallet: own.homeMallet.vector, at: now)
    return seat == .home ? input : input?.mirrored
  }
}
