import CaromCore
import CaromPhysics

@testable import AirHockey

/// A match of two computer players.
struct Match: Hashable {
  var rink = Rink()
  var home: ComputerPlayer
  var away: ComputerPlayer

  @discardableResult
  mutating func step() -> RinkEvents {
    rink.step(home: home.input(for: rink.state), away: away.input(for: rink.state))
  }

  /// Plays until the match ends, for at most `limit` ticks, and returns the winner.
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

/// A host whose match the home player has just won.
func makeFinishedHost() -> MatchHost {
  var host = MatchHost(at: .zero)
  _ = host.addClient(returning: false)
  var home = ComputerPlayer(.home, strength: .hard, seed: 1)
  for _ in 0..<60_000 where host.state.phase != .matchEnd(winner: .home) {
    _ = host.step(home: home.input(for: host.state))
  }
  return host
}

/// Random inputs from anywhere on the table.
struct RandomInputs {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func input() -> MalletInput {
    let bits = generator.next()
    return MalletInput(
      x: Int16(truncatingIfNeeded: bits), y: Int16(truncatingIfNeeded: bits >> 16))
  }
}

/// Creates a rink in play with the given puck, in meters and meters per second.
func makeRink(
  puck: Vector = .zero, velocity: Vector = .zero,
  phase: Phase = .playing(half: nil, remaining: Preset.possessionTicks)
) -> Rink {
  var state = RinkState()
  state.phase = phase
  state.puck = PuckState(position: LatticePoint(puck), velocity: LatticePoint(velocity))
  return Rink(state)
}

/// Inputs that leave the mallets at their starting positions.
let resting = (
  home: MalletInput(Vector(-0.75, 0)), away: MalletInput(Vector(0.75, 0))
)

/// Returns a smaller count in debug builds, which are slower.
func scaled(debug: Int, release: Int) -> Int {
  #if DEBUG
    debug
  #else
    release
  #endif
}
