/// The law of motion of the bodies during one step.
///
/// A step measures time with a clock by which as many bodies as possible move at constant velocity
/// (such bodies are called straight), since contacts between straight bodies have a closed-form
/// solution. The law gives the positions and contacts of all bodies, straight or not.
struct MotionLaw {
  enum Kind {
    /// No damping. The clock shows the time, and all bodies are straight.
    case inertial
    /// Drag alone. In the clock s = (1 - e^-kt)/k, dynamic bodies are straight, and moving
    /// kinematic bodies are not.
    case drag
    /// Coulomb deceleration. The clock shows the time, and moving dynamic bodies are not straight.
    case coulomb
  }

  let damping: Damping
  let kind: Kind
  /// The clock reading at the end of the step.
  let horizon: Double
  /// The length of the step, in seconds.
  let step: Double

  init(damping: Damping, step: Double) {
    self.damping = damping
    self.step = step
    kind = damping.deceleration > 0 ? .coulomb : (damping.drag > 0 ? .drag : .inertial)
    horizon = kind == .drag ? damping.clock(at: step) : step
  }

  /// Returns whether the body moves at constant velocity as measured by the clock.
  @inline(__always)
  func isStraight(_ body: Body) -> Bool {
    switch kind {
    case .inertial: true
    case .drag: body.role != .kinematic || body.velocity == .zero
    case .coulomb: body.role != .dynamic || body.velocity == .zero
    }
  }

  /// Returns the time since the start of the step, in seconds, at which the clock reads `clock`.
  func time(at clock: Double) -> Double { kind == .drag ? damping.time(atClock: clock) : clock }

  /// Returns the derivative of the clock with respect to time. The velocity of a straight dynamic
  /// body in meters per second is its velocity as measured by the clock times this factor.
  @inline(__always)
  func rate(at clock: Double) -> Double { kind == .drag ? 1 - damping.drag * clock : 1 }

  /// Returns the center of a body at `clock`, which must not be before the body's own clock.
  func position(_ body: Body, at clock: Double) -> Vector {
    if isStraight(body) { return body.straightPosition(at: clock) }
    if kind == .drag {
      return body.position
        + body.velocity * (damping.time(atClock: clock) - damping.time(atClock: body.clock))
    }
    let speed = body.velocity.length
    return body.position
      + body.velocity * (damping.distance(after: clock - body.clock, from: speed) / speed)
  }

  /// Returns the velocity of a body, in meters per second, at `clock`, which must not be before the
  /// body's own clock.
  func velocity(_ body: Body, at clock: Double) -> Vector {
    switch kind {
    case .inertial: return body.velocity
    case .drag: return body.role == .kinematic ? body.velocity : body.velocity * rate(at: clock)
    case .coulomb:
      guard body.role == .dynamic, body.velocity != .zero else { return body.velocity }
      let speed = body.velocity.length
      return body.velocity * (damping.speed(after: clock - body.clock, from: speed) / speed)
    }
  }

  /// Converts a velocity in meters per second at `clock` to the value to store in `Body.velocity`.
  func storedVelocity(_ velocity: Vector, for role: Body.Role, at clock: Double) -> Vector {
    kind == .drag && role == .dynamic ? velocity * (1 / rate(at: clock)) : velocity
  }

  /// Returns an upper bound on the distance that a body covers from `clock` to the end of the step.
  /// `velocity` is in the form stored in `Body.velocity`.
  @inline(__always)
  func reach(_ velocity: Vector, _ role: Body.Role, from clock: Double) -> Double {
    velocity.length * (role == .kinematic ? step : horizon - clock)
  }

  /// Returns an upper bound on the body's acceleration with respect to the clock.
  private func acceleration(_ body: Body) -> Double {
    if isStraight(body) { return 0 }
    let speed = body.velocity.length
    guard kind == .drag else { return damping.drag * speed + damping.deceleration }
    let rate = rate(at: horizon)
    return speed * damping.drag / (rate * rate)
  }

  /// Returns the clock reading at which two bodies first touch after `now`, or nil if they do not
  /// touch before the horizon. At least one of the bodies must not be straight.
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

  /// Returns the first contact of a dynamic body with a barrier, or nil if there is none. The
  /// contact's time is measured from `body.clock`.
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
    let length = damping.distance(after: horizon - body.clock, from: speed)
    guard
      let contact = table.firstBarrier(
        body.position, body.velocity * (1 / speed), radius: body.radius, horizon: length),
      let time = damping.time(toSlide: contact.time, from: speed)
    else { return nil }
    return BarrierContact(time: min(time, horizon - body.clock), barrier: contact.barrier)
  }
}
