import Testing

@testable import CaromPhysics

/// Single steps of a `SceneSolver` with exact results. All lengths and times are sums of few powers
/// of two, so that nothing is rounded.
@Suite struct SceneStepTests {
  private func makeDisc(
    _ position: Vector, _ velocity: Vector = .zero, radius: Double = 0.5, mass: Double? = 1
  ) -> Disc {
    Disc(position: position, velocity: velocity, radius: radius, mass: mass)
  }

  private func makeScene(
    _ discs: [Disc], goal: Double = 0, surface: Surface = Surface()
  ) -> Scene {
    Scene(
      table: Table(halfLength: 8, halfWidth: 8, goalHalfWidth: goal), surface: surface,
      discs: discs)
  }

  @Test(arguments: [1.0, -1])
  func `a goal ends the step for all discs, at its time in seconds`(side: Double) {
    for damping in [Damping(), Damping(drag: 0.5)] {
      var scene = makeScene(
        [
          makeDisc(Vector(7 * side, 0), Vector(2 * side, 0)),
          makeDisc(Vector(0, 5), Vector(0, -1)), makeDisc(Vector(0, -5), Vector(1, 0), mass: nil),
        ], goal: 2, surface: Surface(damping: damping))
      var solver = SceneSolver()
      let outcome = solver.advance(&scene, by: 4)
      let time = damping.drag == 0 ? 0.5 : damping.time(toSlide: 1, from: 2) ?? 0
      #expect(outcome.endedByGoal && outcome.contactCount == 1 && outcome.pinnedCount == 0)
      #expect(abs(outcome.time - time) < 1e-12)
      #expect(solver.contacts.map(\.kind) == [.goal(side: Int(side))])
      #expect(abs(solver.contacts[0].time - time) < 1e-12)
      #expect((scene[0].position - Vector(8 * side, 0)).length < 1e-12)
      #expect(abs(scene[0].velocity.x - side * damping.speed(after: time, from: 2)) < 1e-12)
      #expect(abs(scene[1].position.y - 5 + damping.distance(after: time, from: 1)) < 1e-12)
      #expect((scene[2].position - Vector(time, -5)).length < 1e-12)
      #expect(scene[2].velocity == Vector(1, 0))
    }
  }

  @Test func `a disc meets what another one did to the disc in between`() {
    // Three equal discs in a row: the speed passes from the first to the last.
    var scene = makeScene([
      makeDisc(Vector(-4, 0), Vector(4, 0)), makeDisc(Vector(0, 0)), makeDisc(Vector(3, 0)),
    ])
    var solver = SceneSolver()
    let outcome = solver.advance(&scene, by: 2)
    #expect(outcome == .init(time: 2, contactCount: 2, pinnedCount: 0, endedByGoal: false))
    #expect(
      solver.contacts == [
        Contact(time: 0.75, disc: 0, kind: .disc(other: 1)),
        Contact(time: 1.25, disc: 1, kind: .disc(other: 2)),
      ])
    #expect((0..<3).map { scene[$0].position } == [Vector(-1, 0), Vector(2, 0), Vector(6, 0)])
    #expect((0..<3).map { scene[$0].velocity } == [.zero, .zero, Vector(4, 0)])
    var quiet = SceneSolver(recordsContacts: false)
    scene = makeScene([makeDisc(Vector(-4, 0), Vector(4, 0)), makeDisc(.zero)])
    #expect(quiet.advance(&scene, by: 2).contactCount == 1 && quiet.contacts == [])
  }

  @Test func `rails, posts and their friction act on a disc and its spin`() {
    let surface = Surface(railRestitution: 0.5, railFriction: 0.25)
    var scene = makeScene([makeDisc(Vector(0, 6), Vector(6, 2))], surface: surface)
    var solver = SceneSolver()
    solver.advance(&scene, by: 1)
    // It reaches the rail after 0.75 s, at a closing speed of 2.
    let contact = Impulse.atRail(
      Vector(6, 2), spin: 0, radius: 0.5, normal: Vector(0, -1), restitution: 0.5, friction: 0.25)
    #expect(solver.contacts == [Contact(time: 0.75, disc: 0, kind: .railY)])
    #expect(scene[0].velocity == contact.velocity && scene[0].spin == contact.spin)
    #expect(contact.velocity == Vector(5.25, -1) && contact.spin == 3)
    #expect(scene[0].position == Vector(4.5, 7.5) + contact.velocity * 0.25)
    scene = makeScene([makeDisc(Vector(6, 2), Vector(2, 0))], goal: 2)
    solver.advance(&scene, by: 1)
    #expect(solver.contacts == [Contact(time: 0.75, disc: 0, kind: .railX)])
    scene = makeScene([makeDisc(Vector(6, 1.75), Vector(2, 0))], goal: 2)
    solver.advance(&scene, by: 1)
    #expect(solver.contacts.map(\.kind) == [.post])
  }

  @Test func `a kinematic disc that a pinned one stopped keeps the velocity that it was given`() {
    let wall = makeDisc(Vector(-2, 0), Vector(1, 0), mass: nil)
    var scene = makeScene([
      wall, makeDisc(Vector(-0.75, 0), Vector(-0.5, 0)), makeDisc(Vector(0.5, 0), mass: nil),
    ])
    var solver = SceneSolver(contactLimit: 3)
    let outcome = solver.advance(&scene, by: 4)
    #expect(outcome.pinnedCount == 1)
    #expect(scene[0].velocity == Vector(1, 0) && scene[1].velocity == .zero)
    #expect(scene[2].velocity == .zero && scene[2].position == Vector(0.5, 0))
    #expect(scene[0].position.x < -1 && scene[0].position.x > -1.6)
    #expect(largestOverlap(scene) < 1e-9)
  }

  @Test func `with a grid, a disc that a hit made fast still meets every disc on its way`() {
    // Many discs at rest make any other fast. A heavy one hits a light one, which flies far.
    var discs = [
      makeDisc(Vector(-6, 0.25), Vector(8, 0), radius: 0.125, mass: 1_024),
      makeDisc(Vector(-5, 0.25), radius: 0.125, mass: 0.5),
      makeDisc(Vector(6, 0.25), radius: 0.125, mass: 1),
    ]
    for index in 0..<60 {
      let place = Vector(-7 + 0.5 * Double(index % 30), index < 30 ? 4 : -4)
      discs.append(makeDisc(place, Vector(0, index % 2 == 0 ? 1 : -1), radius: 0.125))
    }
    for threshold in [2, 1_000] {
      var scene = makeScene(discs)
      var solver = SceneSolver()
      solver.gridThreshold = threshold
      solver.advance(&scene, by: 0.875)
      let hits = solver.contacts.filter { $0.disc < 3 }
      #expect(hits.map(\.kind) == [.disc(other: 1), .disc(other: 2)])
      #expect(hits.map(\.disc) == [0, 1])
    }
  }

  @Test func `with a grid, a disc that a hit made fast meets one that turns into its path later`() {
    // The first hit makes disc 1 fly far from its cell. The second, ten meters away, makes disc 3
    // cross its path.
    var discs = [
      makeDisc(Vector(-6, 0.25), Vector(8, 0), radius: 0.125, mass: 1_024),
      makeDisc(Vector(-5, 0.25), radius: 0.125, mass: 0.5),
      makeDisc(Vector(5, 3.656), Vector(0, -3), radius: 0.125, mass: 1_024),
      makeDisc(Vector(5, 2.25), radius: 0.125, mass: 0.5),
    ]
    for index in 0..<60 {
      let place = Vector(-7 + 0.5 * Double(index % 30), index < 30 ? 4 : -4)
      discs.append(makeDisc(place, Vector(0, index % 2 == 0 ? 1 : -1), radius: 0.125))
    }
    for threshold in [2, 1_000] {
      var scene = makeScene(discs)
      var solver = SceneSolver()
      solver.gridThreshold = threshold
      solver.advance(&scene, by: 0.875)
      let hits = solver.contacts.filter { $0.disc < 4 }.prefix(3)
      #expect(hits.map(\.kind) == [.disc(other: 1), .disc(other: 3), .disc(other: 3)])
      #expect(hits.map(\.disc) == [0, 2, 1])
    }
  }

  @Test func `a scene counts only the energy of its dynamic discs, and reads and writes discs`() {
    var scene = makeScene([
      makeDisc(.zero, Vector(3, 4), mass: 2), makeDisc(Vector(5, 5), Vector(9, 9), mass: nil),
    ])
    #expect(scene.kineticEnergy == 25 && scene.count == 2)
    #expect(scene[1].isKinematic && scene[1].inverseMass == 0 && scene[0].inverseMass == 0.5)
    var disc = scene[0]
    (disc.position, disc.velocity, disc.spin) = (Vector(0x1p-34, 1), Vector(1, 0x3p-33), 0x3p-33)
    (disc.radius, disc.inverseMass) = (9, 9)
    scene[0] = disc
    #expect(scene[0].radius == 0.5 && scene[0].inverseMass == 0.5)
    #expect(scene[0].velocity == Vector(1, 0x3p-33) && scene[0].spin == 0x3p-33)
    scene.roundToLattice()
    #expect(scene[0].position == Vector(0, 1))
    #expect(scene[0].velocity == Vector(1, 0x1p-31) && scene[0].spin == 0x1p-31)
  }
}
