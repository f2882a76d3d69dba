import AirHockey
import CaromCore
import CaromSimulation

/// The states of the vectors in `game.txt`, at least one for each phase.
enum GameStates {
  /// One metre, in steps of the lattice.
  private static let unit = Int64(1) << 32
  private static let rest = LatticePoint(x: -3 * unit / 4, y: 0)
  /// The x of the goal line, 0.974 m, rounded down to a step.
  private static let goalLine = Int64(4_183_298_146)

  static let all: [String: RinkState] = [
    "state of a first face-off": make(1, .faceOff(remaining: 148)),
    "state of a serve": make(
      0x0102_0304_0506_0708, .serve(.away, remaining: 600), held: .home,
      match: 2, Score(home: 3, away: 5), PuckState(position: at(unit * 2 / 5, -1)),
      home: at(-unit / 2, 4_096)),
    "state of play": make(
      4_000, .playing(half: .home, remaining: 420), match: 2,
      Score(home: 3, away: 5),
      PuckState(
        position: at(-unit / 4, unit / 8), velocity: at(2 * unit, -2 * unit), spin: -256),
      home: at(-unit / 2, -4_096)),
    "state of play on the centre line": make(
      4_001, .playing(half: nil, remaining: 1), match: 2,
      Score(home: 3, away: 5),
      PuckState(position: at(0, unit / 8), velocity: at(0, -2 * unit), spin: 256),
      home: at(-unit / 2, -4_096)),
    "state after a goal": make(
      .max, .goalPause(scorer: .away, remaining: 90), held: .away, match: 65_535,
      Score(home: 0, away: 6), PuckState(position: at(-goalLine, 0))),
    "state after a foul": make(
      7, .foulPause(by: .home, remaining: 60), held: [.home, .away],
      Score(), PuckState(position: at(-unit / 8, unit / 8))),
    "state of a match that is over": make(
      8, .matchEnd(winner: .home), Score(home: 7, away: 6),
      PuckState(position: at(goalLine, 0))),
  ]

  private static func at(_ x: Int64, _ y: Int64) -> LatticePoint { LatticePoint(x: x, y: y) }

  private static func make(
    _ tick: UInt64, _ phase: Phase, held: Pauses = [],
    match: UInt16 = 1, _ score: Score = Score(),
    _ puck: PuckState = PuckState(position: .zero), home: LatticePoint = rest
  ) -> RinkState {
    var rink = RinkState(match: match, tick: Tick(tick))
    rink.phase = phase
    rink.pauses = held
    rink.score = score
    rink.puck = puck
    rink.homeMallet = home
    return rink
  }
}
