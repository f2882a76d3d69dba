import Testing

@testable import CaromPhysics

private let table = Table(halfLength: 0.974, halfWidth: 0.519, goalHalfWidth: 0.125)
private let surface = Surface(
  railRestitution: 0.93, discRestitution: 0.93, railFriction: 0.12, damping: Damping(drag: 0.23))

private func makePuck(_ random: inout Draws) -> Disc {
  Disc(
    position: Vector(random.next(in: -0.2...0.2), random.next(in: -0.4...0.4)),
    velocity: random.vector(length: random.next(in: 0...15)), spin: random.next(in: -99...99),
    radius: 0.03165, mass: 0.01)
}

private func makeMallet(_ side: Double, _ random: inout Draws) -> Disc {
  Disc(
    position: Vector(side * random.next(in: 0.3...0.9), random.next(in: -0.4...0.4)),
    velocity: random.vector(length: random.next(in: 0...7.5)), radius: 0.04815, mass: nil)
}

@Test func `SingleDiscSolver and SceneSolver agree`() {
  var random = Draws(seed: 4)
  let solver = SingleDiscSolver(table: table, surface: surface, step: 1.0 / 60)
  var sceneSolver = SceneSolver()
  var touches = SingleDiscContacts()
  var goals = 0
  #if DEBUG
    let count = 500
  #else
    let count = 20_000
  #endif
  for _ in 0..<count {
    var puck = makePuck(&random)
    var first = makeMallet(-1, &random)
    var second = makeMallet(1, &random)
    var scene = Scene(table: table, surface: surface, discs: [puck, first, second])
    for _ in 0..<8 where touches.goal == 0 {
      touches = solver.advance(&puck, &first, &second)
      let outcome = sceneSolver.advance(&scene, by: 1.0 / 60)
      // The two solvers count contacts differently towards their limits.
      if touches.isPinned || outcome.pinnedCount > 0 { break }
      #expect(outcome.contactCount == touches.count)
      #expect((scene[0].position - puck.position).length < 1e-9)
      #expect((scene[0].velocity - puck.velocity).length < 1e-8)
      #expect((scene[0].spin - puck.spin).magnitude < 1e-6)
      #expect((outcome.time - touches.endTime).magnitude < 1e-12)
    }
    goals += touches.goal == 0 ? 0 : 1
    touches = SingleDiscContacts()
  }
  #expect(goals > 4)
}

@Test func `simultaneous hits from both sides pin a disc in the middle`() {
  let solver = SingleDiscSolver(
    table: table, surface: Surface(discRestitution: 0.9), step: 1.0 / 60)
  var puck = Disc(position: .zero, radius: 0.03165, mass: 0.01)
  var first = Disc(
    position: Vector(-0.1, 0), velocity: Vector(3, 0), radius: 0.04815, mass: nil)
  var second = Disc(
    position: Vector(0.1, 0), velocity: Vector(-3, 0), radius: 0.04815, mass: nil)
  let touches = solver.advance(&puck, &first, &second)
  #expect(touches.isPinned)
  #expect(puck.position == .zero)
  #expect(puck.velocity == .zero)
  #expect(first.position == -second.position)
  #expect((first.position.x + 0.0798).magnitude < 1e-12)
}

@Test func `the speed after a hit is limited to the cap`() {
  let solver = SingleDiscSolver(table: table, surface: surface, step: 1.0 / 60, speedCap: 9)
  var puck = Disc(
    position: Vector(0.1, 0), velocity: Vector(-4, 0), radius: 0.03165, mass: 0.01)
  var first = Disc(
    position: .zero, velocity: Vector(7, 0), radius: 0.04815, mass: nil)
  var second = Disc(position: Vector(0.9, 0.4), radius: 0.04815, mass: nil)
  let touches = solver.advance(&puck, &first, &second)
  #expect(touches.firstHits == 1)
  #expect(puck.velocity.length <= 9)
  #expect((touches.impact - 11).magnitude < 0.1)
}
