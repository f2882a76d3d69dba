import CaromCore
import CaromPhysics

@testable import AirHockey

/// Two computers at one table.
struct Match: Hashable {
  var rink = Rink()
  var home: ComputerPlayer
  var away: ComputerPlayer

  @discardableResult
  mutating func step() -> RinkEvents {
    rink.step(home: home.input(for: rink.state), away: away.input(for: rink.state))
  }

  /// Plays on until the match ends, at most `limit` ticks.
  mutating func playToEnd(limit: Int) -> Seat? {
    for _ in 0..<limit {
      if let winner = step().winner { return winner }
    }
    return nil
  }
}

func makeMatch(
  seed: UInt64, home: Strength = .medium, away: Strength = .medium
) -> Match {
  Match(
    home: ComputerPlayer(.home, strength: home, seed: seed),
    away: ComputerPlayer(.away, strength: away, seed: ~seed))
}

/// Inputs that jump about the whole table.
struct WildHands {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func input() -> MalletInput {
    let bits = generator.next()
    return MalletInput(
      x: Int16(truncatingIfNeeded: bits), y: Int16(truncatingIfNeeded: bits >> 16))
  }
}

/// A rink in play with the puck as given, metres.
func makeRink(
  puck: Vector = .zero, velocity: Vector = .zero,
  phase: Phase = .playing(half: nil, remaining: Preset.possessionTicks)
) -> Rink {
  var state = RinkState()
  state.phase = phase
  state.puck = PuckState(position: LatticePoint(puck), velocity: LatticePoint(velocity))
  return Rink(state)
}

/// Where a mallet stands at the start of a match.
let resting = (
  home: MalletInput(Vector(-0.75, 0)), away: MalletInput(Vector(0.75, 0))
)

/// Heavy counts: the gate runs both builds.
func scaled(debug: Int, release: Int) -> Int {
  #if DEBUG
    debug
  #else
    release
  #endif
}
