import Testing

@testable import CaromPhysics

// Contacts at exactly the same time. All lengths and times are sums of few powers of two, so that
// nothing is rounded.

@Test(arguments: [2, 1_000])
func `all contacts of one time happen, in the order of their ids, with barriers after discs`(
  gridThreshold: Int
) {
  // The pairs are in the reverse order of the grid's cells.
  let pairs = [2.0, 0, -2]
  var discs = pairs.map { makeDisc(Vector(-0.5, $0), Vector(1, 0)) }
  discs += pairs.map { makeDisc(Vector(0.5, $0), Vector(-1, 0)) }
  discs += [
    makeDisc(Vector(3, 3.5), Vector(0, 1)), makeDisc(Vector(3.5, -3), Vector(1, 0)),
    makeDisc(Vector(-3, 3.5), Vector(0, 1)), makeDisc(Vector(-2.25, 3.75), Vector(-1, 0)),
  ]
  var scene = Scene(table: Table(halfLength: 4, halfWidth: 4), discs: discs)
  var solver = SceneSolver()
  solver.gridThreshold = gridThreshold
  solver.advance(&scene, by: 0.5)
  let kinds: [(Int, Contact.Kind)] = [
    (0, .disc(other: 3)), (1, .disc(other: 4)), (2, .disc(other: 5)), (6, .railY), (7, .railX),
    (8, .disc(other: 9)), (8, .railY),
  ]
  #expect(solver.contacts == kinds.map { Contact(time: 0.25, disc: $0, kind: $1) })
  for id in 0..<3 {
    #expect(scene[id].velocity == Vector(-1, 0))
    #expect(scene[id + 3].velocity == Vector(1, 0))
  }
}

/// Disc `shared` reaches two others after 1 s: one that moves along with it, at an angle, and one
/// straight ahead. Resolved together, the first of them would have to be pulled.
@Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]])
func `simultaneous contacts that would attract are resolved one after another`(order: [Int]) {
  let radius = 1.5625
  let discs = [
    Disc(position: .zero, velocity: Vector(1, 0), radius: radius, mass: 1),
    Disc(position: Vector(1.125, 3), velocity: Vector(0.75, 0), radius: radius, mass: 1),
    Disc(position: Vector(4.125, 0), radius: radius, mass: 1),
  ]
  var scene = Scene(
    table: Table(halfLength: 8, halfWidth: 8), discs: order.map { discs[$0] })
  var solver = SceneSolver()
  solver.advance(&scene, by: 1.5)
  #expect(solver.contacts.map(\.time) == [1, 1])
  // Each disc is pushed only away from the shared one.
  let ids = (0..<3).map { id in order.firstIndex(of: id) ?? 0 }
  let velocities = ids.map { scene[$0].velocity }
  #expect(velocities[1].x >= 0.75 && velocities[1].y >= 0)
  #expect(velocities[2].x > 0.9 && abs(velocities[2].y) < 1e-12)
  let energy = velocities.reduce(0) { $0 + $1.lengthSquared }
  #expect(abs(energy - 1.5625) < 1e-12)
  let momentum = velocities.reduce(Vector.zero) { $0 + $1 }
  #expect((momentum - Vector(1.75, 0)).length < 1e-12)
}

/// WireFormat, The exact step of a match, Contacts: the order of the barriers breaks ties.
@Test(
  arguments: [
    // Both rails, in a corner.
    (Vector(0.5, 0.5), Vector(1, 1), 0, .railY),
    // A short rail exactly at the post.
    (Vector(0, 0.5), Vector(1, 0), 0.5, .railX),
    // Both posts of a mouth in which the disc does not fit.
    (Vector(0, 0), Vector(1, 0), 0.125, .postLow), (Vector(0, 0), Vector(-1, 0), 0.125, .postLow),
    // A post that the disc grazes as its center reaches the goal line.
    (Vector(0, 0.25), Vector(1, 0), 0.5, .postHigh),
    (Vector(0, -0.25), Vector(1, 0), 0.5, .postLow),
  ] as [(Vector, Vector, Double, Barrier)])
func `of barriers that are reached at the same time the first in the fixed order is hit`(
  position: Vector, velocity: Vector, goalHalfWidth: Double, first: Barrier
) {
  let table = Table(halfLength: 1, halfWidth: 1, goalHalfWidth: goalHalfWidth)
  let contact = table.firstBarrier(position, velocity, radius: 0.25, horizon: 4)
  #expect(contact?.barrier == first)
}

/// WireFormat, The exact step of a match, Contacts: if the contacts with both mallets have the same
/// time, both happen.
@Test func `a disc that reaches both mallets at the same time is hit by both`() {
  let table = Table(halfLength: 8, halfWidth: 8)
  let solver = SingleDiscSolver(table: table, surface: Surface(), step: 1)
  var disc = Disc(position: .zero, velocity: Vector(0, 2), radius: 0.5, mass: 1)
  var first = Disc(position: Vector(-0.75, 2), radius: 0.75, mass: nil)
  var second = Disc(position: Vector(0.75, 2), radius: 0.75, mass: nil)
  let contacts = solver.advance(&disc, &first, &second)
  #expect(contacts.firstHits == 1 && contacts.secondHits == 1 && contacts.count == 2)
  // The centers touch at (±0.6, 0.8) times the sum of the radii: each mallet takes 2 · 0.8 · 0.8 of
  // the speed.
  #expect(disc.velocity.x == 0)
  #expect((disc.velocity.y + 3.12).magnitude < 1e-12)
}

private func makeDisc(_ position: Vector, _ velocity: Vector) -> Disc {
  Disc(position: position, velocity: velocity, radius: 0.25, mass: 1)
}
