import Testing

@testable import CaromPhysics

/// How bodies move during a step, and when two of them touch.
@Suite struct MotionLawTests {
  private func makeBody(
    _ position: Vector, _ velocity: Vector, _ role: Body.Role = .dynamic, clock: Double = 0
  ) -> Body {
    Body(
      position: position, velocity: velocity, clock: clock, radius: 0.5,
      inverseMass: role == .dynamic ? 1 : 0, id: 0, role: role)
  }

  private func isClose(_ a: Double, _ b: Double) -> Bool { (a - b).magnitude < 1e-12 }

  private let inertial = MotionLaw(damping: Damping(), step: 2)
  private let drag = MotionLaw(damping: Damping(drag: 0.5), step: 2)
  private let coulomb = MotionLaw(damping: Damping(drag: 0.5, deceleration: 1), step: 2)

  @Test func `a body is straight unless the clock differs from the one in which it moves evenly`() {
    #expect([inertial.kind, drag.kind, coulomb.kind] == [.inertial, .drag, .coulomb])
    let moving = Vector(1, 0)
    let rows: [(Body.Role, Vector, [Bool])] = [
      (.dynamic, moving, [true, true, false]), (.dynamic, .zero, [true, true, true]),
      (.kinematic, moving, [true, false, true]), (.kinematic, .zero, [true, true, true]),
      (.pinned, .zero, [true, true, true]),
    ]
    for (role, velocity, expected) in rows {
      let body = makeBody(.zero, velocity, role)
      #expect([inertial, drag, coulomb].map { $0.isStraight(body) } == expected, "\(role)")
    }
  }

  @Test func `the clock of drag runs slower and slower, and the others show the time`() {
    #expect(inertial.horizon == 2 && coulomb.horizon == 2)
    #expect(isClose(drag.horizon, drag.damping.clock(at: 2)) && drag.horizon < 2)
    for time in [0, 0.5, 2] {
      let clock = drag.damping.clock(at: time)
      #expect(isClose(drag.time(at: clock), time))
      #expect(isClose(drag.rate(at: clock), drag.damping.speed(after: time, from: 1)))
      #expect(inertial.time(at: time) == time && inertial.rate(at: time) == 1)
      #expect(coulomb.time(at: time) == time && coulomb.rate(at: time) == 1)
    }
  }

  @Test func `places and velocities follow the damping from the body's own clock on`() {
    for law in [inertial, drag, coulomb] {
      let damping = law.damping
      // The body was deflected after half a second, to a speed of 2 m/s.
      let start = law.kind == .drag ? damping.clock(at: 0.5) : 0.5
      let end = law.kind == .drag ? damping.clock(at: 1.25) : 1.25
      let stored = law.storedVelocity(Vector(2, 0), for: .dynamic, at: start)
      let body = makeBody(Vector(1, 3), stored, clock: start)
      #expect(isClose(law.velocity(body, at: start).x, 2))
      #expect(isClose(law.velocity(body, at: end).x, damping.speed(after: 0.75, from: 2)))
      let place = law.position(body, at: end)
      #expect(isClose(place.x, 1 + damping.distance(after: 0.75, from: 2)) && place.y == 3)
      // Nothing slows a kinematic body.
      let held = law.storedVelocity(Vector(2, 0), for: .kinematic, at: start)
      let mallet = makeBody(Vector(1, 3), held, .kinematic, clock: start)
      #expect(held == Vector(2, 0) && law.velocity(mallet, at: end) == Vector(2, 0))
      #expect(isClose(law.position(mallet, at: end).x, 2.5))
    }
  }

  @Test func `no body goes farther than its reach`() {
    for law in [inertial, drag, coulomb] {
      let clock = law.horizon / 4
      for role in [Body.Role.dynamic, .kinematic] {
        let body = makeBody(.zero, Vector(0, 3), role, clock: clock)
        let moved = law.position(body, at: law.horizon).y
        #expect(moved <= law.reach(body.velocity, role, from: clock) + 1e-12)
      }
    }
    #expect(inertial.reach(Vector(3, 4), .dynamic, from: 0.5) == 7.5)
    #expect(inertial.reach(Vector(3, 4), .kinematic, from: 0.5) == 10)
  }

  @Test func `bodies on curved ways touch when their distance is the sum of the radii`() {
    let pairs: [(MotionLaw, Body, Body)] = [
      (coulomb, makeBody(.zero, Vector(4, 0)), makeBody(Vector(2.5, 0), .zero)),
      (coulomb, makeBody(.zero, Vector(4, 0)), makeBody(Vector(3, 0.25), Vector(-2, 0))),
      (drag, makeBody(.zero, Vector(2, 0)), makeBody(Vector(3, 0), Vector(-1, 0), .kinematic)),
    ]
    for (law, a, b) in pairs {
      guard let clock = law.curvedContact(a, b, now: 0) else {
        Issue.record("the bodies meet")
        continue
      }
      let gap = (law.position(a, at: clock) - law.position(b, at: clock)).length - 1
      #expect(gap.magnitude < 1e-9 && clock > 0 && clock < law.horizon)
      let before = (law.position(a, at: clock * 0.99) - law.position(b, at: clock * 0.99)).length
      #expect(before > 1)
    }
    // A body that stops before, one that goes away, and one that is passed.
    let slow = makeBody(.zero, Vector(1, 0))
    #expect(coulomb.curvedContact(slow, makeBody(Vector(2.5, 0), .zero), now: 0) == nil)
    #expect(coulomb.curvedContact(slow, makeBody(Vector(-1.5, 0), .zero), now: 0) == nil)
    #expect(coulomb.curvedContact(slow, makeBody(Vector(0.25, 1.25), .zero), now: 0) == nil)
  }

  @Test func `a sliding disc reaches a rail after the time of its slide, or not at all`() {
    let table = Table(halfLength: 4, halfWidth: 4)
    let body = makeBody(Vector(2.5, 1), Vector(3, 0), clock: 0.5)
    let contact = coulomb.barrier(body, on: table)
    let time = coulomb.damping.time(toSlide: 1, from: 3) ?? 0
    #expect(contact?.barrier == .railX && isClose(contact?.time ?? 0, time))
    for velocity in [Vector(1, 0), .zero] {
      #expect(coulomb.barrier(makeBody(Vector(2.5, 1), velocity), on: table)?.time == nil)
    }
    #expect(inertial.barrier(makeBody(Vector(2.5, 1), Vector(1, 0)), on: table)?.time == 1)
    #expect(inertial.barrier(makeBody(Vector(1.25, 1), Vector(1, 0)), on: table)?.time == nil)
  }

  @Test func `discs rest if they touch and do not approach each other`() {
    let rows: [(Double, Double, Bool)] = [
      (0, 0, true), (0, 1, true), (-1e-9, 0, true), (0, -1e-13, true), (0, -4e-12, false),
      (1e-12, 0, true), (8e-12, 0, false), (0, -1, false),
    ]
    for (gap, closing, isResting) in rows {
      #expect(
        RestingContact.isResting(gap: gap, closing: closing, distance: 2) == isResting,
        "\(gap) \(closing)")
    }
  }

  // MARK: The queue

  private func makeContact(_ clock: Double, _ a: Int32, _ b: Int32) -> PendingContact {
    PendingContact(clock: clock, a: a, b: b, stampA: 0, stampB: 0, batch: 0)
  }

  @Test func `contacts are handled by time, then by the lower id, then by the other one`() {
    var random = Draws(seed: 4)
    var queue = ContactQueue()
    var contacts: [PendingContact] = []
    for _ in 0..<300 {
      let ids = (0..<3).map { _ in Int(random.next(in: 0...4)) }
      contacts.append(makeContact(Double(ids[0]), Int32(ids[1]), Int32(ids[2])))
      queue.push(contacts[contacts.count - 1])
    }
    let key = { (contact: PendingContact) in [contact.clock, Double(contact.a), Double(contact.b)] }
    let expected = contacts.map(key).sorted { $0.lexicographicallyPrecedes($1) }
    #expect(queue.first.map(key) == expected.first)
    var handled: [[Double]] = []
    while let contact = queue.pop() { handled.append(key(contact)) }
    #expect(handled == expected && queue.first.map(key) == nil)
    queue.push(makeContact(1, 0, 0))
    queue.removeAll()
    #expect(queue.first.map(key) == nil)
  }

  // MARK: The grid

  @Test func `the grid's cells are as large as a disc, and those outside count to the border`() {
    var grid = Grid()
    grid.layOut(over: Table(halfLength: 4, halfWidth: 2), count: 1_000, radius: 0.5)
    #expect(grid.columns == 9 && grid.rows == 5)
    #expect([-9, -4, -3.01, -2.99, 3.99, 4, 9].map(grid.column) == [0, 0, 0, 1, 7, 8, 8])
    #expect([-9, -2, -1.01, -0.99, 1.99, 2, 9].map(grid.row) == [0, 0, 0, 1, 3, 4, 4])
    // With few discs, the cells have as much room as a disc has on average.
    grid.layOut(over: Table(halfLength: 4, halfWidth: 2), count: 2, radius: 0.5)
    #expect(grid.columns == 3 && grid.rows == 2)
  }
}
