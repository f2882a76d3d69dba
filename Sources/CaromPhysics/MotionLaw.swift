/// How bodies move through one step: which clock makes the most of them move straight, and where
/// those are that do not.
struct MotionLaw {
  enum Kind {
    /// Nothing slows: the clock is time and everything is straight.
    case inertial
    /// Drag alone: in the clock s = (1 - e^-kt)/k dynamic bodies are straight, kinematic ones are
    /// not.
    case drag
    /// Coulomb deceleration: the clock is time, dynamic bodies are not straight in it.
    case coulomb
  }

  let glide: Glide
  let kind: Kind
  /// The step's end in its clock.
  let horizon: Double
  /// The step's length, seconds.
  let step: Double

  init(glide: Glide, step: Double) {
    self.glide = glide
    self.step = step
    kind = glide.deceleration > 0 ? .coulomb : (glide.drag > 0 ? .drag : .inertial)
    horizon = kind == .drag ? glide.clock(at: step) : step
  }

  /// Whether the body moves straight in the clock.
  @inline(__always)
  func isStraight(_ body: Body) -> Bool {
    switch kind {
    case .inertial: true
    case .drag: body.role != .kinematic || body.velocity == .zero
    case .coulomb: body.role != .dynamic || body.velocity == .zero
    }
  }

  /// Time since the step's beginning at a clock.
  func time(at clock: Double) -> Double { kind == .drag ? glide.time(atClock: clock) : clock }

  /// A straight dynamic body's velocity a second is its velocity in the clock times this.
  @inline(__always)
  func rate(at clock: Double) -> Double { kind == .drag ? 1 - glide.drag * clock : 1 }

  /// The centre at a later clock.
  func position(_ body: Body, at clock: Double) -> Vector {
    if isStraight(body) { return body.straight(at: clock) }
    if kind == .drag {
      return body.position
        + body.velocity * (glide.time(atClock: clock) - glide.time(atClock: body.clock))
    }
    let speed = body.velocity.length
    return body.position
      + body.velocity * (glide.distance(after: clock - body.clock, from: speed) / speed)
  }

  /// Metres a second at a later clock.
  func velocity(_ body: Body, at clock: Double) -> Vector {
    switch kind {
    case .inertial: return body.velocity
    case .drag: return body.role == .kinematic ? body.velocity : body.velocity * rate(at: clock)
    case .coulomb:
      guard body.role == .dynamic, body.velocity != .zero else { return body.velocity }
      let speed = body.velocity.length
      return body.velocity * (glide.speed(after: clock - body.clock, from: speed) / speed)
    }
  }

  /// The body's stored velocity that gives `velocity` metres a second at `clock`.
  func stored(_ velocity: Vector, for role: Body.Role, at clock: Double) -> Vector {
    kind == .drag && role == .dynamic ? velocity * (1 / rate(at: clock)) : velocity
  }

  /// A bound on how far a body of this stored velocity gets from `clock` to the step's end.
  @inline(__always)
  func reach(_ velocity: Vector, _ role: Body.Role, from clock: Double) -> Double {
    velocity.length * (role == .kinematic ? step : horizon - clock)
  }

  /// A bound on the acceleration in the clock.
  private func acceleration(_ body: Body) -> Double {
    if isStraight(body) { return 0 }
    let speed = body.velocity.length
    guard kind == .drag else { return glide.drag * speed + glide.deceleration }
    let rate = rate(at: horizon)
    return speed * glide.drag / (rate * rate)
  }

  /// The clock of the first contact of two bodies after `now`, where not both are straight.
  func curvedContact(_ a: Body, _ b: Body, now: Double) -> Double? {
    let distance = a.radius + b.radius
    let bound = acceleration(a) + acceleration(b)
    return MovingContact.first(
      distance: distance, acceleration: bound, horizon: horizon - now
    ) {
      let clock = now + $0
      let offset = position(a, at: clock) - position(b, at: clock)
      let velocity = clockVelocity(a, at: clock) - clockVelocity(b, at: clock)
      return (offset, velocity)
    }.map { now + $0 }
  }

  private func clockVelocity(_ body: Body, at clock: Double) -> Vector {
    velocity(body, at: clock) * (1 / rate(at: clock))
  }

  /// The first barrier that a dynamic body meets from its clock on.
  @inline(__always)
  func barrier(_ body: Body, on table: Table) -> BarrierContact? {
    if kind != .coulomb {
      return table.firstBarrier(
        body.position, body.velocity, radius: body.radius, horizon: horizon - body.clock)
    }
    return slidingBarrier(body, on: table)
  }

  private func slidingBarrier(_ body: Body, on table: Table) -> BarrierContact? {
    let speed = body.velocity.length
    guard speed > 0 else { return nil }
    let way = glide.distance(after: horizon - body.clock, from: speed)
    guard
      let contact = table.firstBarrier(
        body.position, body.velocity * (1 / speed), radius: body.radius, horizon: way),
      let time = glide.time(toSlide: contact.time, from: speed)
    else { return nil }
    return BarrierContact(time: min(time, horizon - body.clock), barrier: contact.barrier)
  }
}
