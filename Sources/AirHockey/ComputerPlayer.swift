import CaromCore
import CaromPhysics

/// A computer player. It sees the match with a delay and with errors, and returns the same kind of
/// input as a person. The seed and the states determine its play.
///
/// Internally a computer player always plays as home, with its own goal at -x; for away, the state
/// is mirrored.
public struct ComputerPlayer: Hashable, Sendable {
  /// The seat of this player.
  public let seat: Seat
  /// The strength of this player's play.
  public let strength: Strength

  private var generator: SeededGenerator
  /// A ring buffer of the puck's states in the last ticks. The entry at `index` is the oldest.
  private var history: [PuckState]
  private var index = 0
  /// The current error of the player's shots in meters, chosen at random twice a second.
  private var aimError = 0.0
  /// The current error of the player's defense in meters, chosen at random twice a second.
  private var guardError = 0.0
  private var errorAge = 0
  /// The index in `shots` of the shot that the player prefers if several are equally open.
  private var favorite = 0

  private static let errorTicks = 30
  /// The x coordinate at which the mallet guards its goal, in meters.
  private static let guardX = -0.80
  private static let reach = Preset.puckRadius + Preset.malletRadius

  /// Creates a player in a seat. The seed determines the player's errors.
  public init(_ seat: Seat, strength: Strength = .medium, seed: UInt64) {
    self.seat = seat
    self.strength = strength
    generator = SeededGenerator(seed: seed)
    history = Array(repeating: PuckState(position: .zero), count: strength.delay + 1)
  }

  /// Returns the input for the next tick. Call this method once per tick, with the current state.
  public mutating func input(for state: RinkState) -> MalletInput {
    let view = seat == .home ? state : state.mirrored
    remember(view.puck)
    drawErrors()
    let mallet = view.homeMallet.vector
    let step = (target(in: view, mallet) - mallet).limited(to: strength.speed * Preset.step)
    let input = MalletInput(mallet + step)
    return seat == .home ? input : input.mirrored
  }

  private mutating func remember(_ puck: PuckState) {
    history[index] = puck
    index = (index + 1) % history.count
  }

  private mutating func drawErrors() {
    errorAge -= 1
    guard errorAge < 0 else { return }
    errorAge = Self.errorTicks
    aimError = strength.aimError * signedFraction()
    guardError = strength.guardError * signedFraction()
    favorite = Int(generator.next() % UInt64(Self.shots.count))
  }

  /// Returns a random number, evenly distributed between -1 and 1.
  private mutating func signedFraction() -> Double {
    Double(generator.next() >> 11) * 0x1p-52 - 1
  }

  /// The puck as it was `strength.delay` ticks ago, extrapolated to the current tick.
  private var puck: (position: Vector, velocity: Vector) {
    let old = history[index]
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
    case .serve(.home, _): return attack(position, mallet, view.awayMallet.vector)
    case .serve(.away, _): return Vector(Self.guardX, guardError)
    case .playing:
      let isReachable = position.x < Self.reach / 2
      let isSlow = velocity.x > -0.35 * strength.speed && velocity.x < 0.6 * strength.speed
      if isReachable, isSlow { return attack(position, mallet, view.awayMallet.vector) }
      if velocity.x < -0.1 { return intercept(position, velocity) }
      return Vector(Self.guardX + 0.05, 0.1 * position.y + 0.3 * guardError)
    }
  }

  /// Returns the point on the guarding line at which the mallet can stop the puck.
  private func intercept(_ position: Vector, _ velocity: Vector) -> Vector {
    let time = max(0, (Self.guardX - position.x) / velocity.x)
    let y = Self.folded(position.y + velocity.y * min(time, 2)) + guardError
    let post = Preset.goalHalfWidth + 0.03
    return Vector(Self.guardX, min(max(y, -post), post))
  }

  /// Returns the mallet's next target for an attack: first behind the puck, then through the puck
  /// towards the goal.
  private func attack(_ position: Vector, _ mallet: Vector, _ opponent: Vector) -> Vector {
    let aim = direction(from: position, past: opponent)
    let offset = position - mallet
    let ahead = offset.dot(aim)
    let aside = offset.cross(aim).magnitude
    let isAligned = aside < strength.alignment * Self.reach
    if ahead > 0.6 * Self.reach, isAligned { return position + aim * 0.15 }
    if ahead > 0 { return position - aim * (Self.reach + 0.08) }
    // The mallet moves around the puck on the side where it already is.
    let side = offset.y > 0 ? -1.0 : 1.0
    return Vector(position.x - 0.16, position.y + side * (Self.reach + 0.04))
  }

  /// The shots that a player considers. `rail` is the long rail that the puck bounces off: 1 for
  /// the one at +y, -1 for the one at -y, 0 for none. `y` is the y coordinate of the target in the
  /// goal, in meters.
  private static let shots: [(rail: Double, y: Double)] = [
    (0, 0), (0, 0.06), (0, -0.06), (1, 0), (-1, 0), (1, 0.04), (-1, -0.04),
  ]

  /// The distance, in meters, between a shot's path and the opponent's mallet beyond which a
  /// greater distance does not make the shot better.
  private static let ampleClearance = 0.13

  /// Returns the direction in which to strike the puck: on the path to the opponent's goal that
  /// passes the opponent's mallet at the greatest distance, or, if the mallet cannot get behind the
  /// puck, away from its own goal.
  private func direction(from position: Vector, past opponent: Vector) -> Vector {
    if position.x < -Preset.halfLength + Self.reach + Preset.malletRadius {
      return Vector(0.3, position.y < 0 ? -0.95 : 0.95)
    }
    var best = Vector(1, 0)
    var bestWorth = -1.0
    for (index, shot) in Self.shots.enumerated() {
      let goal = Vector(Preset.halfLength, shot.y + aimError)
      let (aim, clearance) = path(from: position, to: goal, off: shot.rail, past: opponent)
      let worth =
        min(clearance, Self.ampleClearance) * strength.awareness + (index == favorite ? 0.03 : 0)
      if worth > bestWorth { (best, bestWorth) = (aim, worth) }
    }
    return best
  }

  /// Returns the direction of a shot, which goes directly to the goal or off a long rail, and the
  /// smallest distance between the shot's path and the opponent's mallet, in meters.
  private func path(
    from position: Vector, to goal: Vector, off rail: Double, past opponent: Vector
  ) -> (aim: Vector, clearance: Double) {
    guard rail != 0 else {
      return (Self.unit(goal - position), Self.distance(of: opponent, from: position, to: goal))
    }
    let y = rail * (Preset.halfWidth - Preset.puckRadius)
    // The shot aims at the goal's mirror image in the rail.
    let image = Vector(goal.x, y + (y - goal.y))
    let share = (y - position.y) / (image.y - position.y)
    let bounce = position + (image - position) * share
    let clearance = min(
      Self.distance(of: opponent, from: position, to: bounce),
      Self.distance(of: opponent, from: bounce, to: goal))
    return (Self.unit(image - position), clearance)
  }

  private static func unit(_ vector: Vector) -> Vector { vector * (1 / vector.length) }

  /// Returns the distance of a point from the line segment between two points.
  private static func distance(of point: Vector, from start: Vector, to end: Vector) -> Double {
    let line = end - start
    let share = min(max((point - start).dot(line) / line.dot(line), 0), 1)
    return (point - start - line * share).length
  }

  /// Returns the y coordinate of a puck that bounces off the long rails, given the y coordinate
  /// that it would have without them.
  private static func folded(_ y: Double) -> Double {
    let rail = Preset.halfWidth - Preset.puckRadius
    var y = y
    for _ in 0..<16 {
      if y > rail { y = 2 * rail - y } else if y < -rail { y = -2 * rail - y } else { return y }
    }
    return 0
  }
}
