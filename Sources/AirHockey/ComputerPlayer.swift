import CaromCore
import CaromPhysics

/// A computer's hand on a mallet: it sees states, late and inexactly, and answers with the input
/// that a person would give. Its whole play follows from its seed.
///
/// It thinks as if it were home, with its own goal at -x; away's view is the mirrored state.
public struct ComputerPlayer: Hashable, Sendable {
  /// Where it sits.
  public let seat: Seat
  /// How well it plays.
  public let strength: Strength

  private var generator: SeededGenerator
  /// What it saw in the last ticks, a ring; the entry at `index` is the oldest.
  private var seen: [PuckState]
  private var index = 0
  /// Its present errors, drawn anew twice a second.
  private var aimError = 0.0
  private var guardError = 0.0
  private var errorAge = 0
  /// Whether it tries a shot off a long rail.
  private var banks = false

  private static let errorTicks = 30
  /// Where it guards its goal.
  private static let guardX = -0.80
  private static let reach = Preset.puckRadius + Preset.malletRadius

  /// A player in `seat`; the seed decides its errors.
  public init(_ seat: Seat, strength: Strength = .medium, seed: UInt64) {
    self.seat = seat
    self.strength = strength
    generator = SeededGenerator(seed: seed)
    seen = Array(repeating: PuckState(position: .zero), count: strength.delay + 1)
  }

  /// Where it wants its mallet next, having seen `state`; to be called once a tick.
  public mutating func input(for state: RinkState) -> MalletInput {
    let view = seat == .home ? state : state.mirrored
    remember(view.puck)
    drawErrors()
    let mallet = view.homeMallet.vector
    let way = (target(in: view, mallet) - mallet).limited(to: strength.speed * Preset.step)
    let wanted = MalletInput(mallet + way)
    return seat == .home ? wanted : wanted.mirrored
  }

  private mutating func remember(_ puck: PuckState) {
    seen[index] = puck
    index = (index + 1) % seen.count
  }

  private mutating func drawErrors() {
    errorAge -= 1
    guard errorAge < 0 else { return }
    errorAge = Self.errorTicks
    aimError = strength.aimError * signedFraction()
    guardError = strength.guardError * signedFraction()
    banks = generator.chance(0.3)
  }

  /// Evenly from -1 to 1.
  private mutating func signedFraction() -> Double {
    Double(generator.next() >> 11) * 0x1p-52 - 1
  }

  /// The puck as it was `strength.delay` ticks ago, carried on to the present.
  private var puck: (position: Vector, velocity: Vector) {
    let old = seen[index]
    let velocity = old.velocity.vector
    let age = Double(strength.delay) * Preset.step
    let ahead = old.position.vector + velocity * age
    return (Vector(ahead.x, Self.folded(ahead.y)), velocity)
  }

  private func target(in view: RinkState, _ mallet: Vector) -> Vector {
    let (position, velocity) = puck
    switch view.phase {
    case .faceOff: return Vector(-Preset.waitingDistance, guardError)
    case .goalPause, .foulPause, .matchEnd: return Vector(Self.guardX, 0)
    case .serve(.home, _): return attack(position, mallet)
    case .serve(.away, _): return Vector(Self.guardX, guardError)
    case .playing:
      let isReachable = position.x < Self.reach / 2
      let isSlow = velocity.x > -0.35 * strength.speed && velocity.x < 0.6 * strength.speed
      if isReachable, isSlow { return attack(position, mallet) }
      if velocity.x < -0.1 { return intercept(position, velocity) }
      return Vector(Self.guardX + 0.05, 0.3 * position.y + guardError)
    }
  }

  /// Stands where the shot will cross the guarding line.
  private func intercept(_ position: Vector, _ velocity: Vector) -> Vector {
    let time = max(0, (Self.guardX - position.x) / velocity.x)
    let y = Self.folded(position.y + velocity.y * min(time, 2)) + guardError
    let post = Preset.goalHalfWidth + 0.03
    return Vector(Self.guardX, min(max(y, -post), post))
  }

  /// Gets behind the puck, then strikes through it at the goal.
  private func attack(_ position: Vector, _ mallet: Vector) -> Vector {
    let aim = direction(from: position)
    let offset = position - mallet
    let ahead = offset.dot(aim)
    let aside = offset.cross(aim).magnitude
    if ahead > 0.6 * Self.reach, aside < 0.35 * Self.reach { return position + aim * 0.15 }
    if ahead > 0 { return position - aim * (Self.reach + 0.08) }
    // Around the puck, on the side where the mallet is already.
    let side = offset.y > 0 ? -1.0 : 1.0
    return Vector(position.x - 0.16, position.y + side * (Self.reach + 0.04))
  }

  /// Where a strike sends the puck: at the goal, or away from the own one where the mallet
  /// cannot get behind it.
  private func direction(from position: Vector) -> Vector {
    if position.x < -Preset.halfLength + Self.reach + Preset.malletRadius {
      return Vector(0.3, position.y < 0 ? -0.95 : 0.95)
    }
    var goal = Vector(Preset.halfLength, aimError)
    if banks {
      // The goal's image in a long rail.
      let rail = Preset.halfWidth - Preset.puckRadius
      goal.y = (aimError < 0 ? -2 : 2) * rail - aimError
    }
    let way = goal - position
    return way * (1 / way.length)
  }

  /// `y` after bounces off the long rails.
  private static func folded(_ y: Double) -> Double {
    let rail = Preset.halfWidth - Preset.puckRadius
    var y = y
    for _ in 0..<16 {
      if y > rail { y = 2 * rail - y } else if y < -rail { y = -2 * rail - y } else { return y }
    }
    return 0
  }
}
