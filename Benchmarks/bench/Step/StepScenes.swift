import AirHockey
import CaromPhysics
import Foundation

/// A table of 2.4 x 1.2 m with goals, a puck, and two kinematic mallets on sine paths of at most
/// 3.6 m/s, with restitution 0.9 and no drag. The Box2D peer simulates the same scene.
struct HockeyScene: SteppedScene {
  /// The number of ticks, ten seconds, after which the mallets' velocities repeat.
  private static let period = 600

  private let solver = SingleDiscSolver(
    table: Table(halfLength: 1.2, halfWidth: 0.6, goalHalfWidth: 0.15),
    surface: Surface(railRestitution: 0.9, discRestitution: 0.9), step: 1.0 / 60)
  private var puck = Disc(position: .zero, velocity: Vector(2.7, 1.1), radius: 0.04, mass: 0.03)
  private var home = Disc(position: Self.place(0, -1), radius: 0.05, mass: nil)
  private var away = Disc(position: Self.place(0, 1), radius: 0.05, mass: nil)
  private let velocities: [(home: Vector, away: Vector)]
  private var tick = 0

  init() {
    velocities = (0..<Self.period).map { tick in
      (
        (Self.place(tick + 1, -1) - Self.place(tick, -1)) * 60,
        (Self.place(tick + 1, 1) - Self.place(tick, 1)) * 60
      )
    }
  }

  /// Returns the position of a mallet on its path at a tick.
  private static func place(_ tick: Int, _ side: Double) -> Vector {
    let angle = 2 * Double.pi * Double(tick % period) / Double(period)
    return Vector(side * (0.8 + 0.15 * sin(17 * angle)), side * 0.3 * sin(10 * angle + side))
  }

  mutating func run(steps: Int) -> Int {
    var contacts = 0
    for _ in 0..<steps {
      home.velocity = velocities[tick].home
      away.velocity = velocities[tick].away
      let touches = solver.advance(&puck, &home, &away)
      tick += 1
      if tick == Self.period {
        tick = 0
        home.position = Self.place(0, -1)
        away.position = Self.place(0, 1)
      }
      contacts += touches.count
      guard touches.goal != 0 else { continue }
      puck.position = .zero
      puck.velocity = Vector(2.7, 1.1)
    }
    return contacts
  }
}

/// The whole game, with its rules and the rounding to the lattice: a recorded match of two computer
/// players that is repeated.
struct MatchScene: SteppedScene {
  private static let length = 6_000

  private var rink = Rink()
  private var inputs: [(home: MalletInput, away: MalletInput)] = []
  private var tick = 0

  init() {
    var home = ComputerPlayer(.home, strength: .hard, seed: 1)
    var away = ComputerPlayer(.away, strength: .hard, seed: 2)
    for _ in 0..<Self.length {
      inputs.append((home.input(for: rink.state), away.input(for: rink.state)))
      if rink.step(home: inputs[inputs.count - 1].home, away: inputs[inputs.count - 1].away).winner
        != nil
      {
        rink.startMatch()
      }
    }
    rink = Rink()
  }

  mutating func run(steps: Int) -> Int {
    var contacts = 0
    for _ in 0..<steps {
      let events = rink.step(home: inputs[tick].home, away: inputs[tick].away)
      contacts += events.touches.isEmpty ? 0 : 1
      if events.winner != nil { rink.startMatch() }
      tick += 1
      if tick == Self.length {
        tick = 0
        rink = Rink()
      }
    }
    return contacts
  }
}

extension Scene {
  /// Returns a closed box with equal discs of 2 m/s, which cover a fifth of its area and collide
  /// elastically without friction.
  static func gas(of count: Int) -> Scene {
    let radius = 0.04
    let half = (Double(count) * Double.pi * radius * radius / 0.2).squareRoot() / 2
    let side = Int(Double(count).squareRoot().rounded(.up))
    let pitch = 2 * half / Double(side)
    let discs = (0..<count).map { index in
      let angle = 2.399963 * Double(index)
      return Disc(
        position: Vector(
          -half + pitch * (Double(index % side) + 0.5), -half + pitch * (Double(index / side) + 0.5)
        ),
        velocity: Vector(2 * cos(angle), 2 * sin(angle)), radius: radius, mass: 0.03)
    }
    return Scene(table: Table(halfLength: half, halfWidth: half), discs: discs)
  }
}

/// A gas of discs.
struct GasScene: SteppedScene {
  private var scene: Scene
  private var solver = SceneSolver(recordsContacts: false)

  init(count: Int) {
    scene = .gas(of: count)
  }

  mutating func run(steps: Int) -> Int {
    var contacts = 0
    for _ in 0..<steps { contacts += solver.advance(&scene, by: 1.0 / 60).contactCount }
    return contacts
  }
}
