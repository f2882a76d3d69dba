import Testing

@testable import CaromPhysics

@Suite struct ImpulseTests {
  @Test func `discs that do not approach each other keep their velocities`() {
    for (v1, v2) in [
      (Vector(-1, 0), Vector(1, 0)), (Vector(0, 3), Vector(0, -2)), (.zero, .zero),
      (Vector(2, 1), Vector(2, 1)),
    ] {
      let after = Impulse.betweenDiscs(
        Vector(0, 0), v1, inverseMass: 1, Vector(1, 0), v2, inverseMass: 2, restitution: 1)
      #expect(after.v1 == v1 && after.v2 == v2)
    }
    let fixed = Impulse.betweenDiscs(
      Vector(0, 0), Vector(1, 0), inverseMass: 0, Vector(1, 0), .zero, inverseMass: 0,
      restitution: 1)
    #expect(fixed.v1 == Vector(1, 0) && fixed.v2 == .zero)
  }

  @Test func `a disc that moves away from a rail keeps its velocity and spin`() {
    for velocity in [Vector(3, 1), Vector(3, 0)] {
      let normal = Vector(0, 1)
      #expect(Impulse.atRail(velocity, normal: normal, restitution: 0.5) == velocity)
      let contact = Impulse.atRail(
        velocity, spin: 9, radius: 0.5, normal: normal, restitution: 0.5, friction: 1)
      #expect(contact == .init(velocity: velocity, spin: 9, slips: false))
    }
    #expect(
      Impulse.atRail(Vector(3, -2), normal: Vector(0, 1), restitution: 0.5) == Vector(3, 1))
  }

  /// WireFormat, The exact step: friction acts against the slide, and at most with the friction
  /// times the normal impulse.
  @Test(arguments: [1.0, -1])
  func `friction at a rail acts against the slide, limited in both directions`(sign: Double) {
    // Closing speed 2, restitution 0.5: the normal impulse is 3, its friction at most 0.75.
    func contact(_ along: Double, spin: Double) -> Impulse.RailContact {
      Impulse.atRail(
        Vector(sign * along, -2), spin: sign * spin, radius: 0.5, normal: Vector(0, 1),
        restitution: 0.5, friction: 0.25)
    }
    // The rim of a disc that does not spin slides along at 6; a third of it is beyond the limit.
    #expect(
      contact(6, spin: 0) == .init(velocity: Vector(sign * 5.25, 1), spin: sign * -3, slips: true))
    #expect(
      contact(1.5, spin: 0) == .init(velocity: Vector(sign, 1), spin: sign * -2, slips: false))
    #expect(
      contact(2.25, spin: 0)
        == .init(velocity: Vector(sign * 1.5, 1), spin: sign * -3, slips: false))
    // Here n⊥ is (-1, 0), so that a spin of -12 slides at 6 without any velocity along the rail.
    #expect(
      contact(0, spin: 12) == .init(velocity: Vector(sign * -0.75, 1), spin: sign * 9, slips: true))
    #expect(
      contact(3, spin: -6) == .init(velocity: Vector(sign * 3, 1), spin: sign * -6, slips: false))
  }

  @Test(arguments: [Damping(deceleration: 0.5), Damping(drag: 0.5, deceleration: 0.5)])
  func `speed falls until the disc stops, and time, distance and speed agree`(damping: Damping) {
    let stop = damping.stopTime(from: 3)
    #expect(damping.speed(after: stop, from: 3) == 0)
    #expect(damping.speed(after: stop * 2, from: 3) == 0)
    #expect(damping.speed(after: 0, from: 3) == 3 && damping.distance(after: 0, from: 3) == 0)
    let end = damping.limitDistance(from: 3)
    #expect(damping.distance(after: stop * 2, from: 3) == end)
    for share in [0.1, 0.25, 0.5, 0.9] {
      // The distance is the integral of the speed.
      let (time, width) = (share * stop, 1e-5)
      let way =
        damping.distance(after: time + width, from: 3)
        - damping.distance(after: time - width, from: 3)
      #expect(abs(way / (2 * width) - damping.speed(after: time, from: 3)) < 1e-6)
      let loss =
        damping.speed(after: time - width, from: 3) - damping.speed(after: time + width, from: 3)
      let speed = damping.speed(after: time, from: 3)
      #expect(abs(loss / (2 * width) - damping.drag * speed - damping.deceleration) < 1e-6)
      let found = damping.time(toSlide: damping.distance(after: time, from: 3), from: 3)
      #expect(abs((found ?? 0) - time) < 1e-9)
    }
    #expect(damping.time(toSlide: end * 1.001, from: 3) == nil)
    #expect(damping.time(toSlide: end * 0.999, from: 3) != nil)
    #expect(damping.time(toSlide: 0, from: 3) == 0 && damping.time(toSlide: 1, from: 0) == nil)
    #expect(damping.stopTime(from: 0) == 0 && damping.limitDistance(from: 0) == 0)
  }

  @Test func `drag and friction together stop a disc after the time in which both act`() {
    let damping = Damping(drag: 0.5, deceleration: 0.5)
    // dv/dt = -0.5 v - 0.5, so v + 1 falls as e^(-t/2) from 4: it is 1 after 2 ln 4.
    #expect(abs(damping.stopTime(from: 3) - 4 * 0.693_147_180_559_945_3) < 1e-12)
    #expect(abs(damping.speed(after: 2 * 0.693_147_180_559_945_3, from: 3) - 1) < 1e-12)
    // The distance is (v0 - v) / k - a t / k.
    let half = 2 * 0.693_147_180_559_945_3
    #expect(abs(damping.distance(after: half, from: 3) - (4 - half)) < 1e-12)
    #expect(abs(damping.limitDistance(from: 3) - (6 - 2 * half)) < 1e-12)
    // For short times the exact solution is that of a constant deceleration.
    let short = Damping(drag: 1e-9, deceleration: 0.5)
    #expect(abs(short.distance(after: 1, from: 3) - 2.75) < 1e-8)
  }

  @Test func `drag alone never stops a disc, and nothing stops one without damping`() {
    let drag = Damping(drag: 0.5)
    #expect(drag.stopTime(from: 3) == .infinity && drag.limitDistance(from: 3) == 6)
    #expect(drag.time(toSlide: 6, from: 3) == nil && drag.time(toSlide: 5.999, from: 3) != nil)
    #expect(drag.time(toSlide: -1, from: 3) == 0)
    let none = Damping()
    #expect(none.speed(after: 9, from: 3) == 3 && none.distance(after: 9, from: 3) == 27)
    #expect(none.limitDistance(from: 3) == .infinity && none.limitDistance(from: 0) == 0)
    #expect(none.time(toSlide: 6, from: 3) == 2)
    let friction = Damping(deceleration: 0.5)
    #expect(friction.stopTime(from: 3) == 6 && friction.time(toSlide: 9, from: 3) == 6)
    #expect(friction.time(toSlide: 5, from: 3) == 2)
  }

  @Test func `a vector is limited to a length, and keeps its direction`() {
    #expect(Vector(3, 4).limited(to: 5) == Vector(3, 4))
    #expect(Vector(6, -8).limited(to: 5) == Vector(3, -4))
    #expect(Vector.zero.limited(to: 0) == .zero && Vector(3, 4).limited(to: 0) == .zero)
    #expect(Vector(2, 3).perpendicular == Vector(-3, 2) && Vector(2, 3).cross(Vector(5, 7)) == -1)
    #expect(Vector(2, 3).dot(Vector(5, 7)) == 31 && Vector(3, 4).length == 5)
    #expect(Vector(3, -4).normalized == Vector(0.6000000000000001, -0.8))
    var sum = Vector(1, 2)
    sum += Vector(10, 20)
    sum -= Vector(4, 8)
    #expect(sum == Vector(7, 14) && -sum == Vector(-7, -14) && sum * 2 == sum + sum)
  }
}

@Suite struct SegmentTests {
  private func impact(
    _ position: Vector, _ velocity: Vector, radius: Double = 0.5
  ) -> TimeOfImpact.SegmentContact? {
    TimeOfImpact.circleSegment(
      position: position, velocity: velocity, radius: radius, from: .zero, to: Vector(2, 0))
  }

  @Test(arguments: [1.0, -1])
  func `a circle touches either side of a segment, with the normal towards it`(side: Double) throws
  {
    let contact = try #require(impact(Vector(1, 2 * side), Vector(0.25, -side)))
    #expect(contact.time == 1.5 && contact.feature == .segment)
    #expect(contact.normal == Vector(0, side) && contact.position == Vector(1.375, 0.5 * side))
    #expect(impact(Vector(1, 2 * side), Vector(0, side)) == nil)
    #expect(impact(Vector(1, 2 * side), Vector(1, 0)) == nil)
    // An overlap counts at once if the circle approaches.
    #expect(impact(Vector(1, 0.25 * side), Vector(0, -side))?.time == 0)
    #expect(impact(Vector(1, 0.25 * side), Vector(0, side)) == nil)
  }

  @Test func `the first contact counts, be it a side or an end`() throws {
    // Flat over the start: the side is touched at x = 1.5 before the end would be.
    let side = try #require(impact(Vector(0, 1), Vector(3, -1)))
    #expect(side.feature == .segment && side.time == 0.5)
    let start = try #require(impact(Vector(-2, 0), Vector(1, 0)))
    #expect(start.feature == .start && start.time == 1.5 && start.normal == Vector(-1, 0))
    #expect(start.position == Vector(-0.5, 0))
    let end = try #require(impact(Vector(4, 0), Vector(-1, 0)))
    #expect(end.feature == .end && end.time == 1.5 && end.normal == Vector(1, 0))
    #expect(end.position == Vector(2.5, 0))
    // Of two ends the nearer one.
    let across = TimeOfImpact.circleSegment(
      position: Vector(0, 3), velocity: Vector(0, -1), radius: 0.5, from: Vector(0, 1),
      to: Vector(0, -1))
    #expect(across?.feature == .start && across?.time == 1.5)
    let point = TimeOfImpact.circleSegment(
      position: Vector(0, 3), velocity: Vector(0, -1), radius: 0.5, from: .zero, to: .zero)
    #expect(point?.time == 2.5 && point?.feature == .start)
  }

  @Test func `two circles touch when their distance is reached from outside`() {
    func time(_ offset: Vector, _ velocity: Vector) -> Double? {
      TimeOfImpact.circles(offset: offset, velocity: velocity, distance: 1)
    }
    #expect(time(Vector(3, 0), Vector(-1, 0)) == 2 && time(Vector(3, 0), Vector(1, 0)) == nil)
    #expect(time(Vector(3, 1), Vector(-1, 0)) == 3)
    #expect(time(Vector(3, 1.001), Vector(-1, 0)) == nil && time(Vector(3, 0), .zero) == nil)
    #expect(time(Vector(0.5, 0), Vector(-1, 0)) == 0 && time(Vector(0.5, 0), Vector(1, 0)) == nil)
    #expect(time(Vector(1, 0), Vector(-1, 0)) == 0 && time(Vector(1, 0), Vector(0, 1)) == nil)
  }
}
