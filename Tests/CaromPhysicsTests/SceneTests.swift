import Testing

@testable import CaromPhysics

/// Makes a scene of discs with different radii and masses, two of them kinematic, on a large table
/// without goals.
private func makeMixedScene(count: Int, damping: Damping, seed: UInt64) -> Scene {
  var random = Draws(seed: seed)
  var discs: [Disc] = []
  let side = Int(Double(count).squareRoot().rounded(.up))
  let half = 0.1 * Double(side) / 2
  for index in 0..<count {
    let position = Vector(
      -half + 0.1 * (Double(index % side) + 0.5), -half + 0.1 * (Double(index / side) + 0.5))
    let isKinematic = index == 3 || index == count / 2
    discs.append(
      Disc(
        position: position, velocity: random.vector(length: isKinematic ? 0.4 : 2),
        spin: random.next(in: -50...50), radius: random.next(in: 0.02...0.04),
        mass: isKinematic ? nil : random.next(in: 0.01...0.1)))
  }
  let surface = Surface(
    railRestitution: 0.9, discRestitution: 0.95, railFriction: 0.12, damping: damping)
  return Scene(
    table: Table(halfLength: half + 2, halfWidth: half + 2, goalHalfWidth: 0), surface: surface,
    discs: discs)
}

private let dampings = [
  Damping(), Damping(drag: 0.23), Damping(deceleration: 0.4), Damping(drag: 0.3, deceleration: 0.2),
]

@Test(arguments: dampings)
func `the grid finds the same contacts as testing all pairs`(damping: Damping) {
  var withGrid = makeMixedScene(count: 40, damping: damping, seed: 7)
  var withPairs = withGrid
  var gridSolver = SceneSolver()
  gridSolver.gridThreshold = 2
  var pairSolver = SceneSolver()
  pairSolver.gridThreshold = 1_000
  var contacts = 0
  for tick in 0..<20 {
    // In each tick, make another disc far faster than the rest.
    withGrid[2 * tick].velocity = Vector(40, Double(tick % 7))
    withPairs[2 * tick].velocity = Vector(40, Double(tick % 7))
    gridSolver.advance(&withGrid, by: 1.0 / 60)
    contacts += pairSolver.advance(&withPairs, by: 1.0 / 60).contactCount
    guard gridSolver.contacts == pairSolver.contacts, withGrid == withPairs else {
      Issue.record("the solvers differ at tick \(tick)")
      return
    }
  }
  #expect(contacts > 50)
}

@Test(arguments: dampings)
func `discs never overlap or leave the table with any damping`(damping: Damping) {
  var scene = makeMixedScene(count: 40, damping: damping, seed: 9)
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

@Test(arguments: dampings)
func `results with few contacts do not depend on the length of a step`(damping: Damping) {
  let start = makeMixedScene(count: 6, damping: damping, seed: 3)
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

@Test func `a copied scene continues bit for bit with another solver`() {
  var scene = makeMixedScene(count: 50, damping: Damping(drag: 0.2), seed: 5)
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

@Test func `a disc squeezed from both sides is pinned, and the other discs stop`() {
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

@Test func `a scene rounded to the lattice has a known hash after ten seconds`() {
  var scene = makeMixedScene(count: 49, damping: Damping(drag: 0.23), seed: 1)
  scene.roundToLattice()
  var solver = SceneSolver()
  var contacts = 0
  for tick in 0..<600 {
    if tick % 60 == 0 {
      // Push all discs, so that drag does not stop them.
      for id in 0..<scene.count where !scene[id].isKinematic {
        scene[id].velocity = Vector(Double(id % 7) - 3, Double(id % 5) - 2)
      }
      scene[3].velocity = -scene[3].velocity
    }
    contacts += solver.advance(&scene, by: 1.0 / 60).contactCount
    scene.roundToLattice()
  }
  #expect(contacts > 500)
  // The same in debug and release builds and on all platforms. Only a change of the physics may
  // change it.
  #expect(hash(of: scene) == 15_712_947_042_696_647_692)
}

@Test func `copying a scene restores the motion and the spin of all discs`() {
  let saved = makeMixedScene(count: 10, damping: Damping(drag: 0.2), seed: 5)
  var scene = saved
  var solver = SceneSolver()
  for _ in 0..<60 { solver.advance(&scene, by: 1.0 / 60) }
  scene[0].spin += 1
  scene.copy(saved)
  #expect(scene == saved)
}

@Test(arguments: [[0, 1, 2], [2, 1, 0]])
func `a contact does not happen if one of its discs was deflected before`(ids: [Int]) {
  // The last disc hits the one in the middle and takes it out of the first one's way.
  let discs = [
    Disc(position: .zero, velocity: Vector(1, 0), radius: 0.5, mass: 1),
    Disc(position: Vector(4, 0), radius: 0.5, mass: 1),
    Disc(position: Vector(4, -2), velocity: Vector(0, 1), radius: 0.5, mass: 1),
  ]
  var scene = Scene(table: Table(halfLength: 8, halfWidth: 8), discs: ids.map { discs[$0] })
  var solver = SceneSolver()
  solver.advance(&scene, by: 3.5)
  let (low, high) = (min(ids[1], ids[2]), max(ids[1], ids[2]))
  #expect(solver.contacts == [Contact(time: 1, disc: low, kind: .disc(other: high))])
  #expect(scene[ids[0]].position == Vector(3.5, 0))
}

@Test func `a disc is pinned by the first contact beyond the limit`() {
  let disc = Disc(position: .zero, velocity: Vector(0, 1), radius: 0.25, mass: 1)
  let start = Scene(table: Table(halfLength: 4, halfWidth: 0.5), discs: [disc])
  // The disc reaches a rail after 0.25 s, 0.75 s and 1.25 s.
  for (step, contacts, pinned) in [(1.0, 2, 0), (1.5, 3, 1)] {
    var scene = start
    var solver = SceneSolver(contactLimit: 2)
    let outcome = solver.advance(&scene, by: step)
    #expect(outcome.contactCount == contacts)
    #expect(outcome.pinnedCount == pinned)
    #expect((scene[0].velocity == .zero) == (pinned == 1))
  }
}

/// A disc flies 10 m past discs at rest, and hits the last one.
@Test(arguments: [Vector(1, 0), Vector(-1, 0), Vector(0, 1), Vector(0, -1)])
func `with a grid, a disc far faster than the others hits the disc in its way`(direction: Vector) {
  let side = direction.perpendicular
  var discs = [
    Disc(position: direction * -5, velocity: direction * 100, radius: 0.125, mass: 1),
    Disc(position: direction * 5, radius: 0.125, mass: 1),
  ]
  for along in -3...3 {
    for across in [-3.0, -2, -1, 1, 2, 3] {
      let position = direction * Double(along) + side * across
      discs.append(Disc(position: position, radius: 0.125, mass: 1))
    }
  }
  var scene = Scene(table: Table(halfLength: 8, halfWidth: 8), discs: discs)
  var solver = SceneSolver()
  solver.advance(&scene, by: 0.1)
  #expect(solver.contacts.map(\.kind) == [.disc(other: 1)])
  #expect(scene[0].velocity.length < 1e-9)
  #expect((scene[1].velocity - direction * 100).length < 1e-9)
  #expect((scene[0].position - direction * 4.75).length < 1e-12)
}
