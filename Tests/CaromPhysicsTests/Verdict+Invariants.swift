import Foundation

@testable import CaromPhysics

// Checks of reference cases that state invariants of all runs of a scene.
extension Verdict {
  mutating func invariant(_ input: JSON, _ expect: JSON) {
    if input["discs"].double != nil {
      gas(input, expect)
    } else if input.has("puck"), input.has("mallet") {
      squeeze(input, expect)
    } else if let id = input["same_as"].text {
      stepSizes(of: id, input, expect)
    } else if input.has("mallet_speeds") {
      hitConsistency(input, expect)
    } else if input.has("speeds") {
      tunnelling(input, expect)
    } else if expect.has("mirror_symmetric_within") {
      symmetricBreak(input, expect)
    } else {
      fail("unknown invariant")
    }
  }

  // MARK: - Gas

  private mutating func gas(_ input: JSON, _ expect: JSON) {
    guard let count = input["discs"].double.map({ Int($0) }), let start = makeGas(input) else {
      return fail("input is incomplete")
    }
    let step = input["dt"].double ?? 1.0 / 60
    var steps = Int(((input["seconds"].double ?? 1) / step).rounded())
    #if DEBUG
      steps = min(steps, max(10, 12_000 / count))
    #endif
    var hashes: [UInt64] = []
    for isFirst in [true, false] {
      var scene = start
      var solver = SceneSolver(recordsContacts: false)
      for index in 1...steps {
        solver.advance(&scene, by: step)
        if isFirst, index % 20 == 0 || index == steps { checkGas(scene, expect) }
      }
      let ratio = scene.kineticEnergy / start.kineticEnergy
      let limit = expect["energy_ratio_error_max"].double ?? .infinity
      require((ratio - 1).magnitude <= limit, "energy ratio is \(ratio)")
      hashes.append(hash(of: scene))
    }
    if expect["run_to_run_hash_equal"].bool == true {
      require(hashes[0] == hashes[1], "two runs differ")
    }
  }

  private mutating func checkGas(_ scene: Scene, _ expect: JSON) {
    let radius = scene[0].radius
    let x = scene.table.halfLength - radius + 1e-9
    let y = scene.table.halfWidth - radius + 1e-9
    let out = scene.motions.count {
      !($0.position.x.magnitude <= x && $0.position.y.magnitude <= y)
    }
    require(out <= Int(expect["escaped"].double ?? 0), "\(out) discs escaped")
    let overlap = largestOverlap(scene)
    let limit = expect["overlap_max_m"].double ?? .infinity
    require(overlap <= limit, "discs overlap by \(overlap) m")
  }

  // MARK: - Squeeze

  private mutating func squeeze(_ input: JSON, _ expect: JSON) {
    guard let table = makeTable(input), var puck = makeDisc(input["puck"]),
      let mallet = makeDisc(input["mallet"])
    else { return fail("input is incomplete") }
    puck.inverseMass = 1 / (input["puck"]["m"].double ?? 0.03)
    let step = input["dt"].double ?? 1.0 / 60
    let steps = Int(((input["seconds"].double ?? 1) / step).rounded())
    let surface = makeSurface(input)
    var scene = Scene(table: table, surface: surface, discs: [puck, mallet])
    var solver = SceneSolver()
    let singleDiscSolver = SingleDiscSolver(table: table, surface: surface, step: step)
    var (own, hand) = (puck, mallet)
    var far = Disc(position: Vector(1_000, 1_000), radius: 0.05, mass: nil)
    for _ in 0..<steps {
      let outcome = solver.advance(&scene, by: step)
      require(outcome.contactCount <= 4 * solver.contactLimit, "\(outcome.contactCount) contacts")
      checkSqueeze(scene[0], scene[1], table, expect)
      let touches = singleDiscSolver.advance(&own, &hand, &far)
      require(touches.count <= SingleDiscSolver.contactLimit, "\(touches.count) touches")
      checkSqueeze(own, hand, table, expect)
    }
  }

  private mutating func checkSqueeze(_ puck: Disc, _ mallet: Disc, _ table: Table, _ expect: JSON) {
    let limit = expect["penetration_max_m"].double ?? 1e-6
    let numbers = [
      puck.position.x, puck.position.y, puck.velocity.x, puck.velocity.y, mallet.position.x,
      mallet.position.y,
    ]
    require(numbers.allSatisfy(\.isFinite), "a number is not finite")
    let overlap = puck.radius + mallet.radius - (puck.position - mallet.position).length
    require(overlap <= limit, "puck and mallet overlap by \(overlap) m")
    let beyond = max(
      puck.position.x.magnitude - (table.halfLength - puck.radius),
      puck.position.y.magnitude - (table.halfWidth - puck.radius))
    require(beyond <= limit, "the puck is \(beyond) m outside")
  }

  // MARK: - Step sizes

  private mutating func stepSizes(of id: String, _ input: JSON, _ expect: JSON) {
    guard let other = PhysicsCase.all.first(where: { $0.id == id }),
      let run = TableRun(other.input), let steps = input["dts"].list?.compactMap(\.double)
    else { return fail("there is no case \(id)") }
    let limit = expect["max_difference_m"].double ?? 1e-8
    let runs = steps.map { step in
      var run = run
      run.run(step: step)
      return run.scene
    }
    for (step, scene) in zip(steps, runs) {
      for id in 0..<scene.count {
        let difference = (scene[id].position - runs[0][id].position).length
        require(difference <= limit, "step \(step): disc \(id) differs by \(difference) m")
      }
    }
  }

  // MARK: - Symmetry

  private mutating func symmetricBreak(_ input: JSON, _ expect: JSON) {
    let radius = input["r"].double ?? 0.04
    let side = 2 * radius
    let mass = input["m"].double ?? 0.03
    let discs = [
      Disc(position: Vector(-0.5, 0), velocity: Vector(3, 0), radius: radius, mass: mass),
      Disc(position: Vector(0.1, 0.5 * side), radius: radius, mass: mass),
      Disc(position: Vector(0.1, -0.5 * side), radius: radius, mass: mass),
    ]
    let start = Scene(table: Table(halfLength: 50, halfWidth: 50), discs: discs)
    var scene = start
    var solver = SceneSolver()
    for _ in 0..<60 { solver.advance(&scene, by: 1.0 / 60) }
    let within = expect["mirror_symmetric_within"].double ?? 1e-9
    let gaps = [
      scene[0].position.y, scene[0].velocity.y, scene[1].position.x - scene[2].position.x,
      scene[1].position.y + scene[2].position.y, scene[1].velocity.x - scene[2].velocity.x,
      scene[1].velocity.y + scene[2].velocity.y,
    ]
    let worst = gaps.map(\.magnitude).max() ?? 0
    require(worst <= within, "off symmetry by \(worst)")
    require(scene[1].velocity.x > 0.1, "nothing was hit")
    let momentum = (scene.momentum - start.momentum).length
    require(momentum <= expect["momentum_error_max"].double ?? 1e-12, "momentum \(momentum)")
    let energy = (scene.kineticEnergy - start.kineticEnergy).magnitude
    require(energy <= expect["energy_error_max"].double ?? 1e-12, "energy \(energy)")
  }
}
