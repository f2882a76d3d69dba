import Testing

@testable import CaromPhysics

/// Discs of several sizes and masses, two kinematic ones, goals out of reach, and all that slows.
private func makeMixedScene(count: Int, glide: Glide, seed: UInt64) -> Scene {
  var random = Draws(seed: seed)
  var discs: [Disc] = []
  let side = Int(Double(count).squareRoot().rounded(.up))
  let half = 0.1 * Double(side) / 2
  for index in 0..<count {
    let place = Vector(
      -half + 0.1 * (Double(index % side) + 0.5), -half + 0.1 * (Double(index / side) + 0.5))
    let isKinematic = index == 3 || index == count / 2
    discs.append(
      Disc(
        position: place, velocity: random.vector(length: isKinematic ? 0.4 : 2),
        spin: random.next(in: -50...50), radius: random.next(in: 0.02...0.04),
        mass: isKinematic ? nil : random.next(in: 0.01...0.1)))
  }
  let surface = Surface(
    railRestitution: 0.9, discRestitution: 0.95, railFriction: 0.12, glide: glide)
  return Scene(
    table: Table(halfLength: half + 2, halfWidth: half + 2, goalHalfWidth: 0), surface: surface,
    discs: discs)
}

private let glides = [
  Glide(), Glide(drag: 0.23), Glide(deceleration: 0.4), Glide(drag: 0.3, deceleration: 0.2),
]

@Test(arguments: glides)
func `the grid finds every contact that trying all pairs finds`(glide: Glide) {
  var withGrid = makeMixedScene(count: 40, glide: glide, seed: 7)
  var withPairs = withGrid
  var gridSolver = SceneSolver()
  gridSolver.gridThreshold = 2
  var pairSolver = SceneSolver()
  pairSolver.gridThreshold = 1_000
  var contacts = 0
  for tick in 0..<20 {
    // One disc far faster than the rest, again and again.
    withGrid[2 * tick].velocity = Vector(40, Double(tick % 7))
    withPairs[2 * tick].velocity = Vector(40, Double(tick % 7))
    gridSolver.advance(&withGrid, by: 1.0 / 60)
    contacts += pairSolver.advance(&withPairs, by: 1.0 / 60).contactCount
    guard gridSolver.contacts == pairSolver.contacts, withGrid == withPairs else {
      Issue.record("they differ at tick \(tick)")
      return
    }
  }
  #expect(contacts > 50)
}

@Test(arguments: glides)
func `discs never overlap nor leave, whatever slows them`(glide: Glide) {
  var scene = makeMixedScene(count: 40, glide: glide, seed: 9)
  var solver = SceneSolver()
  for _ in 0..<120 {
    solver.advance(&scene, by: 1.0 / 60)
    #expect(largestOverlap(scene) < 1e-9)
  }
  for id in 0..<scene.count where !scene[id].isKinematic {
    #expect(scene[id].position.x.magnitude <= scene.table.halfLength - scene[id].radius + 1e-12)
    #expect(scene[id].position.y.magnitude <= scene.table.halfWidth - scene[id].radius + 1e-12)
  }
}

@Test(arguments: glides)
func `few contacts come out alike in any step`(glide: Glide) {
  let start = makeMixedScene(count: 6, glide: glide, seed: 3)
  let ends = [6, 10, 60, 240].map { rate in
    var scene = start
    var solver = SceneSolver()
    for _ in 0..<rate / 2 { solver.advance(&scene, by: 1 / Double(rate)) }
    return scene
  }
  for end in ends {
    for id in 0..<end.count {
      #expect((end[id].position - ends[0][id].position).length < 1e-9)
    }
  }
}

@Test func `a copy goes on bit for bit with another solver`() {
  var scene = makeMixedScene(count: 50, glide: Glide(drag: 0.2), seed: 5)
  var solver = SceneSolver()
  for _ in 0..<20 { solver.advance(&scene, by: 1.0 / 60) }
  var copy = scene
  var other = SceneSolver(recordsContacts: false)
  for _ in 0..<20 {
    solver.advance(&scene, by: 1.0 / 60)
    other.advance(&copy, by: 1.0 / 60)
  }
  #expect(copy == scene)
}

@Test func `a disc pressed from two sides is pinned and its pressers stop`() {
  let discs = [
    Disc(position: .zero, radius: 0.04, mass: 0.03),
    Disc(position: Vector(-0.3, 0), velocity: Vector(2, 0), radius: 0.05, mass: nil),
    Disc(position: Vector(0.3, 0), velocity: Vector(-2, 0), radius: 0.05, mass: nil),
  ]
  var scene = Scene(
    table: Table(halfLength: 1, halfWidth: 1), surface: Surface(discRestitution: 0.9),
    discs: discs)
  var solver = SceneSolver()
  var pinned = 0
  for _ in 0..<60 {
    let outcome = solver.advance(&scene, by: 1.0 / 60)
    pinned += outcome.pinnedCount
    #expect(outcome.contactCount <= 4 * solver.contactLimit)
    #expect(largestOverlap(scene) < 1e-6)
  }
  #expect(pinned > 0)
  #expect(scene[1].velocity == Vector(2, 0))
}

@Test func `a scene on the lattice has this hash after ten seconds`() {
  var scene = makeMixedScene(count: 49, glide: Glide(drag: 0.23), seed: 1)
  scene.roundToLattice()
  var solver = SceneSolver()
  var contacts = 0
  for tick in 0..<600 {
    if tick % 60 == 0 {
      // A push, so that drag does not bring it to rest.
      for id in 0..<scene.count where !scene[id].isKinematic {
        scene[id].velocity = Vector(Double(id % 7) - 3, Double(id % 5) - 2)
      }
      scene[3].velocity = -scene[3].velocity
    }
    contacts += solver.advance(&scene, by: 1.0 / 60).contactCount
    scene.roundToLattice()
  }
  #expect(contacts > 500)
  // The same in every build and on every machine; a change of the physics changes it.
  #expect(hash(of: scene) == 15_712_947_042_696_647_692)
}
