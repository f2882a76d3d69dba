@testable import CaromPhysics

// Checks of reference cases that test a single function.
extension Verdict {
  mutating func impulseDiscs(_ input: JSON, _ expect: JSON) {
    guard let m1 = input["m1"].double, let m2 = input["m2"].double, let v1 = input["v1"].vector,
      let v2 = input["v2"].vector, let p1 = input["p1"].vector, let p2 = input["p2"].vector
    else { return fail("input is incomplete") }
    let after = Impulse.betweenDiscs(
      p1, v1, inverseMass: 1 / m1, p2, v2, inverseMass: 1 / m2,
      restitution: input["e"].double ?? 1)
    check("v1", after.v1, in: expect)
    check("v2", after.v2, in: expect)
    check("momentum_x", m1 * after.v1.x + m2 * after.v2.x, in: expect)
    check("momentum_y", m1 * after.v1.y + m2 * after.v2.y, in: expect)
    let before = 0.5 * (m1 * v1.lengthSquared + m2 * v2.lengthSquared)
    let energy = 0.5 * (m1 * after.v1.lengthSquared + m2 * after.v2.lengthSquared)
    check("energy_loss", before - energy, in: expect)
  }

  mutating func impulseKinematic(_ input: JSON, _ expect: JSON) {
    guard let m1 = input["m1"].double, let v1 = input["v1"].vector,
      let v2 = input["v2_kinematic"].vector ?? input["v2"].vector, let p1 = input["p1"].vector,
      let p2 = input["p2"].vector
    else { return fail("input is incomplete") }
    let after = Impulse.betweenDiscs(
      p1, v1, inverseMass: 1 / m1, p2, v2, inverseMass: 0, restitution: input["e"].double ?? 1)
    check("v1", after.v1, in: expect)
    check("v2", after.v2, in: expect)
  }

  mutating func impulseRail(_ input: JSON, _ expect: JSON) {
    guard let v = input["v"].vector, let n = input["n"].vector else {
      return fail("input is incomplete")
    }
    let after = Impulse.atRail(v, normal: n, restitution: input["e_w"].double ?? 1)
    check("v", after, in: expect)
  }

  mutating func impulseRailFriction(_ input: JSON, _ expect: JSON) {
    guard let v = input["v"].vector, let n = input["n"].vector, let r = input["r"].double else {
      return fail("input is incomplete")
    }
    let after = Impulse.atRail(
      v, spin: input["w"].double ?? 0, radius: r, normal: n,
      restitution: input["e_w"].double ?? 1, friction: input["mu_w"].double ?? 0)
    check("v", after.velocity, in: expect)
    check("w", after.spin, in: expect)
    if let slips = expect["slips"].bool { require(after.slips == slips, "slips is \(!slips)") }
    let slide = Impulse.slideSpeed(after.velocity, spin: after.spin, radius: r, normal: n)
    check("contact_speed_after", slide, in: expect)
  }

  mutating func freeSlide(_ input: JSON, _ expect: JSON) {
    guard let speed = input["v0"].double else { return fail("input is incomplete") }
    let damping = makeDamping(input)
    for sample in expect["samples"].list ?? [] {
      guard let time = sample["t"].double else { return fail("a sample without t") }
      check("x(\(time))", damping.distance(after: time, from: speed), in: sample, key: "x")
      check("v(\(time))", damping.speed(after: time, from: speed), in: sample, key: "v")
    }
    check("stop_time", finite(damping.stopTime(from: speed)), in: expect)
    let distance = finite(damping.limitDistance(from: speed))
    check("stop_distance", distance, in: expect)
    check("limit_distance", distance, in: expect)
  }

  mutating func freeSlideTime(_ input: JSON, _ expect: JSON) {
    guard let speed = input["v0"].double, let distance = input["distance"].double else {
      return fail("input is incomplete")
    }
    let damping = makeDamping(input)
    let time = damping.time(toSlide: distance, from: speed)
    check("t", time, in: expect)
    check("v", time.map { damping.speed(after: $0, from: speed) }, in: expect)
  }

  mutating func circleCircle(_ input: JSON, _ expect: JSON) {
    guard let p1 = input["p1"].vector, let v1 = input["v1"].vector, let r1 = input["r1"].double,
      let p2 = input["p2"].vector, let v2 = input["v2"].vector, let r2 = input["r2"].double
    else { return fail("input is incomplete") }
    let time = TimeOfImpact.circles(offset: p1 - p2, velocity: v1 - v2, distance: r1 + r2)
    let found = time.flatMap { $0 <= input["horizon"].double ?? .infinity ? $0 : nil }
    check("t", found, in: expect)
    guard let found else { return }
    let (q1, q2) = (p1 + v1 * found, p2 + v2 * found)
    check("p1", q1, in: expect)
    check("p2", q2, in: expect)
    check("n_2_to_1", (q1 - q2).normalized, in: expect)
  }

  mutating func circleSegment(_ input: JSON, _ expect: JSON) {
    guard let p = input["p"].vector, let v = input["v"].vector, let r = input["r"].double,
      let a = input["a"].vector, let b = input["b"].vector
    else { return fail("input is incomplete") }
    let contact = TimeOfImpact.circleSegment(position: p, velocity: v, radius: r, from: a, to: b)
    let found = contact.flatMap { $0.time <= input["horizon"].double ?? .infinity ? $0 : nil }
    check("t", found?.time, in: expect)
    guard let found else { return }
    check("n", found.normal, in: expect)
    check("p", found.position, in: expect)
    guard let feature = expect["feature"].text else { return }
    let names = [
      TimeOfImpact.Feature.segment: "segment", .start: "A", .end: "B",
    ]
    require(names[found.feature] == feature, "feature is \(found.feature), expected \(feature)")
  }

  mutating func interpolate(_ input: JSON, _ expect: JSON) {
    guard let p0 = input["p0"].vector, let v0 = input["v0"].vector, let p1 = input["p1"].vector,
      let v1 = input["v1"].vector, let h = input["h"].double, let u = input["u"].double
    else { return fail("input is incomplete") }
    let curve = Interpolation.hermite(p0, v0, p1, v1, interval: h, fraction: u)
    check("linear_p", Interpolation.linear(p0, p1, fraction: u), in: expect)
    check("hermite_p", curve.position, in: expect)
    check("hermite_v", curve.velocity, in: expect)
  }

  private func finite(_ value: Double) -> Double? { value.isFinite ? value : nil }
}

func makeDamping(_ input: JSON) -> Damping {
  Damping(drag: input["k"].double ?? 0, deceleration: input["a"].double ?? 0)
}
