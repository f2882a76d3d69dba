import Testing

@testable import CaromPhysics

/// WireFormat, The exact step of a match.
@Suite struct SingleDiscStepTests {
  private static let table = Table(halfLength: 8, halfWidth: 8, goalHalfWidth: 2)
  private let far = Disc(position: Vector(-6, -6), radius: 0.5, mass: nil)

  private func makeDisc(_ position: Vector, _ velocity: Vector = .zero) -> Disc {
    Disc(position: position, velocity: velocity, radius: 0.5, mass: 1)
  }

  private func makeMallet(_ position: Vector, _ velocity: Vector = .zero) -> Disc {
    Disc(position: position, velocity: velocity, radius: 0.5, mass: nil)
  }

  private func makeSolver(_ surface: Surface = Surface(), step: Double = 1, cap: Double = .infinity)
    -> SingleDiscSolver
  {
    SingleDiscSolver(table: Self.table, surface: surface, step: step, speedCap: cap)
  }

  @Test func `without contacts all discs move by their velocities`() {
    var (disc, first, second) = (makeDisc(.zero, Vector(1, 2)), far, far)
    first.velocity = Vector(0, 1)
    let contacts = makeSolver().advance(&disc, &first, &second)
    var expected = SingleDiscContacts()
    expected.endTime = 1
    #expect(contacts == expected && contacts.count == 0)
    #expect(disc.position == Vector(1, 2) && first.position == Vector(-6, -5))
    #expect(second.position == far.position)
  }

  @Test(arguments: [1.0, -1])
  func `a goal ends the disc's motion, and mallets move for the whole step`(side: Double) {
    var (disc, first, second) = (makeDisc(Vector(7 * side, 0), Vector(4 * side, 0)), far, far)
    first.velocity = Vector(0, 1)
    let contacts = makeSolver().advance(&disc, &first, &second)
    #expect(contacts.goal == Int(side) && contacts.endTime == 0.25 && contacts.count == 1)
    #expect(disc.position == Vector(8 * side, 0) && disc.velocity == Vector(4 * side, 0))
    #expect(first.position == Vector(-6, -5))
    #expect(!contacts.isPinned && contacts.impact == 0)
  }

  @Test func `rails and posts are counted, with the largest closing speed`() {
    var (disc, first, second) = (makeDisc(Vector(0, 7), Vector(0, 2)), far, far)
    var contacts = makeSolver(Surface(railRestitution: 0.5)).advance(&disc, &first, &second)
    #expect(contacts.rails == 1 && contacts.impact == 2 && disc.velocity == Vector(0, -1))
    #expect(disc.position == Vector(0, 6.75) && contacts.endTime == 1)
    disc = makeDisc(Vector(7, 1.75), Vector(2, 0))
    contacts = makeSolver().advance(&disc, &first, &second)
    #expect(contacts.posts == 1 && contacts.rails == 0 && contacts.impact > 1.5)
    #expect(contacts.impact < 2)
    disc = makeDisc(Vector(7, 3), Vector(2, 0))
    contacts = makeSolver().advance(&disc, &first, &second)
    #expect(contacts.posts == 0 && contacts.rails == 1)
    // A bounce off both rails of a corner.
    disc = makeDisc(Vector(7, 7), Vector(2, -1))
    disc.velocity = Vector(2, 2)
    contacts = makeSolver().advance(&disc, &first, &second)
    #expect(contacts.rails == 2 && disc.position == Vector(6, 6) && disc.velocity == Vector(-2, -2))
  }

  @Test(arguments: [-1.0, 1])
  func `a post is hit also by a disc on its way back from the goal line`(side: Double) {
    // The center is nearer to the goal line than the radius, and moves away from it.
    var (disc, first, second) = (
      makeDisc(Vector(7.75 * side, 1), Vector(-0.5 * side, 4)), far, far
    )
    let contacts = makeSolver(step: 0.25).advance(&disc, &first, &second)
    #expect(contacts.posts == 1 && contacts.goal == 0)
    #expect((disc.position - Vector(8 * side, 2)).length >= 0.5 - 1e-12)
    #expect(disc.velocity.y < 4)
  }

  @Test func `a mallet that is reached at the end of the step is hit`() {
    var (disc, second) = (makeDisc(.zero, Vector(1, 0)), far)
    var first = makeMallet(Vector(2, 0))
    let contacts = makeSolver().advance(&disc, &first, &second)
    #expect(contacts.firstHits == 1 && contacts.impact == 1)
    #expect(disc.velocity == Vector(-1, 0) && disc.position == Vector(1, 0))
  }

  @Test func `a mallet is hit before a barrier only if it is reached earlier`() {
    // The disc reaches the rail after 0.5 s, and a mallet behind the rail then or before.
    for (y, hits, rails) in [(8.5, 0, 1), (8.375, 1, 0)] {
      for isFirst in [true, false] {
        var disc = makeDisc(Vector(0, 7), Vector(0, 1))
        let mallet = makeMallet(Vector(0, y))
        var (first, second) = isFirst ? (mallet, far) : (far, mallet)
        let contacts = makeSolver().advance(&disc, &first, &second)
        #expect(contacts.rails == rails && contacts.count == 1)
        #expect((isFirst ? contacts.firstHits : contacts.secondHits) == hits)
        #expect(disc.velocity == Vector(0, -1))
      }
    }
  }

  @Test
  func `beside a pinned disc, each mallet moves on for the rest of the step, until it touches it`()
  {
    // The first mallet presses the disc against the rail after 0.5 s. The second moves past it, or
    // up to it.
    for (velocity, expected) in [(Vector(0.5, 0), 4.5), (Vector(-4, 0), 1)] {
      var disc = makeDisc(Vector(0, 7.5), .zero)
      var first = makeMallet(Vector(0, 6.25), Vector(0, 0.5))
      var second = makeMallet(Vector(4, 7.5), velocity)
      let surface = Surface(railRestitution: 0.5, discRestitution: 0.5)
      let contacts = makeSolver(surface).advance(&disc, &first, &second)
      #expect(contacts.isPinned && disc.velocity == .zero && contacts.endTime == 1)
      #expect((disc.position - Vector(0, 7.5)).length < 1e-6)
      #expect(abs(first.position.y - 6.5) < 1e-6 && first.velocity == Vector(0, 0.5))
      #expect(abs(second.position.x - expected) < 1e-6 && second.velocity == velocity)
    }
    #expect(SingleDiscSolver.contactLimit == 64)
  }

  @Test func `a hit depends on both speeds, and each mallet is counted as itself`() {
    for isFirst in [true, false] {
      for (cap, speed) in [(Double.infinity, 4.5), (3, 3)] {
        var disc = makeDisc(.zero, Vector(-1, 0))
        let mallet = makeMallet(Vector(-2, 0), Vector(1, 0))
        var (first, second) = isFirst ? (mallet, far) : (far, mallet)
        let solver = makeSolver(Surface(discRestitution: 0.75), cap: cap)
        let contacts = solver.advance(&disc, &first, &second)
        // They meet after 0.5 s. The disc leaves at 1 + 0.75 · 2, if nothing limits it.
        #expect(contacts.firstHits == (isFirst ? 1 : 0))
        #expect(contacts.secondHits == (isFirst ? 0 : 1))
        #expect(contacts.impact == 2)
        #expect(disc.velocity.x == min(2.5, cap) && speed >= 2.5)
        #expect((isFirst ? first : second).position == Vector(-1, 0))
      }
    }
  }

  @Test func `drag slows the disc between contacts, and its clock the mallets do not share`() {
    let damping = Damping(drag: 0.5)
    var (disc, first, second) = (makeDisc(.zero, Vector(3, 0)), far, far)
    _ = makeSolver(Surface(damping: damping)).advance(&disc, &first, &second)
    #expect(abs(disc.position.x - damping.distance(after: 1, from: 3)) < 1e-12)
    #expect(abs(disc.velocity.x - damping.speed(after: 1, from: 3)) < 1e-12)
    disc = makeDisc(Vector(6, 3), Vector(3, 0))
    let contacts = makeSolver(Surface(damping: damping)).advance(&disc, &first, &second)
    let time = damping.time(toSlide: 1.5, from: 3) ?? 0
    let speed = damping.speed(after: time, from: 3)
    #expect(contacts.rails == 1 && abs(contacts.impact - speed) < 1e-12)
    #expect(abs(disc.position.x - 7.5 + damping.distance(after: 1 - time, from: speed)) < 1e-12)
    // A mallet that follows the disc reaches it when both are at the same place.
    disc = makeDisc(.zero, Vector(2, 0))
    first = makeMallet(Vector(-1.125, 0), Vector(2, 0))
    let hit = makeSolver(Surface(damping: damping), step: 2).advance(&disc, &first, &second)
    #expect(hit.firstHits >= 1 && first.position == Vector(2.875, 0))
    #expect(disc.position.x - first.position.x >= 1 - 1e-12)
  }

  /// The step is exact: every peer computes the same bits.
  @Test func `a long game of one disc and two mallets has the same bits everywhere`() {
    let table = Table(halfLength: 0.974, halfWidth: 0.519, goalHalfWidth: 0.125)
    let surface = Surface(
      railRestitution: 0.93, discRestitution: 0.93, railFriction: 0.12,
      damping: Damping(drag: 0.23))
    let solver = SingleDiscSolver(table: table, surface: surface, step: 1.0 / 60, speedCap: 15)
    var random = Draws(seed: 21)
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    var total = SingleDiscContacts()
    var pinned = 0
    var puck = Disc(position: .zero, radius: 0.03165, mass: 0.01)
    var mallets = [-0.5, 0.5].map { Disc(position: Vector($0, 0), radius: 0.04815, mass: nil) }
    for _ in 0..<20_000 {
      for index in 0...1 {
        // The mallets chase the puck, each in its half and not too precisely.
        let side = index == 0 ? -1.0 : 1
        let aim = puck.position + random.vector(length: 0.05)
        let target = Vector(
          side * min(max(aim.x * side, 0.04815), 0.92585), min(max(aim.y, -0.47085), 0.47085))
        let way = (target - mallets[index].position).limited(to: 7.5 / 60)
        mallets[index].velocity = way * 60
      }
      var second = mallets[1]
      let contacts = solver.advance(&puck, &mallets[0], &second)
      mallets[1] = second
      total.rails += contacts.rails
      total.posts += contacts.posts
      total.firstHits += contacts.firstHits
      total.secondHits += contacts.secondHits
      total.goal += contacts.goal.magnitude == 1 ? 1 : 0
      pinned += contacts.isPinned ? 1 : 0
      for value in [
        puck.position.x, puck.position.y, puck.velocity.x, puck.velocity.y, puck.spin,
        mallets[0].position.x, mallets[0].position.y, mallets[1].position.x, mallets[1].position.y,
        contacts.impact, contacts.endTime, Double(contacts.count),
      ] {
        hash = (hash ^ value.bitPattern) &* 0x9FB2_1C65_1E98_DF25
        hash ^= hash >> 32
      }
      puck.position = Lattice.rounded(puck.position)
      puck.velocity = Lattice.rounded(puck.velocity)
      puck.spin = Lattice.rounded(puck.spin)
      if contacts.goal != 0 || pinned > 0 && contacts.isPinned {
        puck.position = Vector(0, random.next(in: -0.3...0.3))
        puck.velocity = random.vector(length: 3)
      }
    }
    #expect(total.rails > 1_000 && total.posts > 10 && total.goal > 10 && pinned > 0)
    #expect(total.firstHits > 1_000 && total.secondHits > 1_000)
    #expect(hash == 8_086_573_981_889_796_855)
  }
}
