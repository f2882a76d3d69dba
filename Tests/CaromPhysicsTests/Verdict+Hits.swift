import Foundation

@testable import CaromPhysics

// Invariants of single hits: the result does not depend on the phase of the step, and no disc
// passes through another or through a wall.
extension Verdict {
  // MARK: - Hit consistency

  mutating func hitConsistency(_ input: JSON, _ expect: JSON) {
    guard var puck = makeDisc(input["puck"]), let radius = input["mallet_r"].double,
      let speeds = input["mallet_speeds"].list?.compactMap(\.double)
    else { return fail("input is incomplete") }
    puck.inverseMass = 1 / 0.03
    let step = input["dt"].double ?? 1.0 / 60
    let surface = makeSurface(input)
    #if DEBUG
      let phases = stride(from: 0, to: 400, by: 8)
    #else
      let phases = stride(from: 0, to: 400, by: 1)
    #endif
    var angles: [Double] = []
    for speed in speeds {
      for phase in phases {
        let start = Vector(-0.2 - speed * step * Double(phase) / 400, 0)
        let mallet = Disc(position: start, velocity: Vector(speed, 0), radius: radius, mass: nil)
        let shots = [
          sceneShot(puck, mallet, surface, step), puckShot(puck, mallet, surface, step),
        ]
        for shot in shots {
          guard shot != .zero else {
            fail("missed at speed \(speed), phase \(phase)")
            continue
          }
          angles.append(atan2(shot.y, shot.x) * 180 / .pi)
          let ratio = shot.length / speed
          let expected = expect["outgoing_speed_over_mallet_speed"].double ?? ratio
          require((ratio - expected).magnitude <= 1e-9, "speed ratio \(ratio) at \(speed)")
        }
      }
    }
    let spread = (angles.max() ?? 0) - (angles.min() ?? 0)
    let limit = expect["angle_spread_deg_max"].double ?? 1e-6
    require(spread <= limit, "the angle spreads over \(spread) degrees")
    let expected = expect["outgoing_angle_deg"].double ?? angles[0]
    require((angles[0] - expected).magnitude <= limit, "the angle is \(angles[0])")
  }

  private var openTable: Table { Table(halfLength: 500, halfWidth: 500) }

  private func sceneShot(_ puck: Disc, _ mallet: Disc, _ surface: Surface, _ step: Double) -> Vector
  {
    var scene = Scene(table: openTable, surface: surface, discs: [puck, mallet])
    var solver = SceneSolver()
    for _ in 0..<Int(0.4 / mallet.velocity.x / step) + 2 { solver.advance(&scene, by: step) }
    return scene[0].velocity
  }

  private func puckShot(_ puck: Disc, _ mallet: Disc, _ surface: Surface, _ step: Double) -> Vector
  {
    let solver = SingleDiscSolver(table: openTable, surface: surface, step: step)
    var (puck, mallet) = (puck, mallet)
    var far = Disc(position: Vector(400, 400), radius: 0.05, mass: nil)
    for _ in 0..<Int(0.4 / mallet.velocity.x / step) + 2 {
      _ = solver.advance(&puck, &mallet, &far)
    }
    return puck.velocity
  }

  // MARK: - Tunnelling

  mutating func tunnelling(_ input: JSON, _ expect: JSON) {
    guard let speeds = input["speeds"].list?.compactMap(\.double) else {
      return fail("input is incomplete")
    }
    let step = input["dt"].double ?? 1.0 / 60
    var trials = Int(input["trials_each"].double ?? 200)
    #if DEBUG
      trials = min(trials, 20)
    #endif
    let shares = input["mallet_closing_share"].list?.compactMap(\.double) ?? []
    let walls = input["walls"].list?.compactMap(\.text) ?? []
    var random = Draws(seed: 17)
    var passes = 0
    for speed in speeds {
      for _ in 0..<trials {
        for wall in walls { passes += passesWall(wall, speed, step, &random) ? 1 : 0 }
        for share in shares { passes += passesMallet(speed, share, step, &random) ? 1 : 0 }
      }
    }
    let limit = Int(expect["passes"].double ?? 0)
    require(passes <= limit, "\(passes) passed through")
  }

  /// Checks a shot at a wall: at a rail of the table, or at a box of four segments.
  private func passesWall(
    _ wall: String, _ speed: Double, _ step: Double, _ random: inout Draws
  ) -> Bool {
    let angle = random.next(in: -1.2...1.2)
    let velocity = Vector(speed * cos(angle), speed * sin(angle))
    let start = Vector(random.next(in: -0.5...0), random.next(in: -0.5...0.5))
    guard wall == "segment" else { return passesBox(start, velocity, step) }
    let puck = Disc(position: start, velocity: velocity, radius: 0.04, mass: 0.03)
    let table = Table(halfLength: 1.2, halfWidth: 0.6)
    var scene = Scene(table: table, discs: [puck])
    var solver = SceneSolver()
    for _ in 0..<30 {
      solver.advance(&scene, by: step)
      let place = scene[0].position
      guard place.x.magnitude <= 1.16 + 1e-9, place.y.magnitude <= 0.56 + 1e-9 else { return true }
    }
    return false
  }

  private func passesBox(_ start: Vector, _ velocity: Vector, _ step: Double) -> Bool {
    let corners = [Vector(0.4, -90), Vector(0.41, -90), Vector(0.41, 90), Vector(0.4, 90)]
    var place = start
    var velocity = velocity
    for _ in 0..<60 where velocity.x > 0 {
      let hits = corners.indices.compactMap { index in
        TimeOfImpact.circleSegment(
          position: place, velocity: velocity, radius: 0.04, from: corners[index],
          to: corners[(index + 1) % 4])
      }
      if let hit = hits.min(by: { $0.time < $1.time }), hit.time <= step {
        velocity = Impulse.atRail(velocity, normal: hit.normal, restitution: 1)
        place = hit.position
      } else {
        place += velocity * step
      }
    }
    return !(place.x <= 0.36 + 1e-9)
  }

  /// Returns whether a puck and a mallet pass through or overlap each other, when they approach
  /// each other at `speed` and must touch. The mallet contributes the fraction `share` of the
  /// speed.
  private func passesMallet(
    _ speed: Double, _ share: Double, _ step: Double, _ random: inout Draws
  ) -> Bool {
    let aside = random.next(in: -0.08...0.08)
    let away = random.next(in: 0.1...0.1 + 2 * speed * step)
    let puck = Disc(
      position: Vector(-away, aside), velocity: Vector(speed * (1 - share), 0), radius: 0.04,
      mass: 0.03)
    let mallet = Disc(
      position: .zero, velocity: Vector(-speed * share, 0), radius: 0.05, mass: nil)
    var scene = Scene(table: openTable, discs: [puck, mallet])
    var solver = SceneSolver()
    let singleDiscSolver = SingleDiscSolver(table: openTable, surface: Surface(), step: step)
    var (own, hand) = (puck, mallet)
    var far = Disc(position: Vector(400, 400), radius: 0.05, mass: nil)
    var contacts = 0
    var touches = 0
    for _ in 0..<Int((0.2 + away) / speed / step) + 2 {
      contacts += solver.advance(&scene, by: step).contactCount
      touches += singleDiscSolver.advance(&own, &hand, &far).firstHits
      for distance in [
        (scene[0].position - scene[1].position).length, (own.position - hand.position).length,
      ] where !(distance >= 0.09 - 1e-9) { return true }
    }
    return contacts != 1 || touches != 1
  }
}
