/// The damping of a free disc, by linear drag k and Coulomb friction with deceleration a:
/// dv/dt = -k v - a v/|v|. A disc at rest stays at rest.
///
/// Damping does not change the direction of motion, so speed and distance describe it completely.
/// All functions are exact solutions in continuous time: results do not depend on the length of a
/// step.
public struct Damping: Hashable, Sendable {
  /// The linear drag k, in 1/s.
  public var drag: Double
  /// The Coulomb deceleration a, in m/s².
  public var deceleration: Double

  /// Creates a damping with the given drag and deceleration, both 0 by default.
  public init(drag: Double = 0, deceleration: Double = 0) {
    precondition(drag >= 0 && deceleration >= 0, "drag and deceleration must not be negative")
    self.drag = drag
    self.deceleration = deceleration
  }

  /// Returns the clock reading s(t) = (1 - e^-kt) / k. A disc slowed only by drag has a constant
  /// velocity in this clock.
  @inline(__always)
  func clock(at time: Double) -> Double {
    drag == 0 ? time : -PortableMath.expMinusOne(-drag * time) / drag
  }

  /// Returns the time at which the clock reads `clock`, which must be below 1/k.
  @inline(__always)
  func time(atClock clock: Double) -> Double {
    drag == 0 ? clock : -PortableMath.log(onePlus: -drag * clock) / drag
  }

  /// Returns the speed, in meters per second, that a disc with initial speed `speed` has after
  /// `time` seconds.
  public func speed(after time: Double, from speed: Double) -> Double {
    guard time < stopTime(from: speed) else { return 0 }
    return max(0, speed - (drag * speed + deceleration) * clock(at: time))
  }

  /// Returns the distance, in meters, that a disc with initial speed `speed` covers in `time`
  /// seconds.
  public func distance(after time: Double, from speed: Double) -> Double {
    let moving = deceleration == 0 ? time : min(time, stopTime(from: speed))
    let clock = clock(at: moving)
    guard deceleration > 0 else { return speed * clock }
    return speed * clock - deceleration * clockIntegral(to: moving, clock: clock)
  }

  /// Returns the time in seconds after which a disc with initial speed `speed` comes to rest. The
  /// time is infinite without a Coulomb deceleration, since drag alone never stops a disc.
  public func stopTime(from speed: Double) -> Double {
    guard speed > 0 else { return 0 }
    guard deceleration > 0 else { return .infinity }
    guard drag > 0 else { return speed / deceleration }
    return PortableMath.log(onePlus: drag * speed / deceleration) / drag
  }

  /// Returns the total distance, in meters, that a disc with initial speed `speed` covers before it
  /// stops. The distance is infinite without damping.
  public func limitDistance(from speed: Double) -> Double {
    guard deceleration == 0 else { return distance(after: stopTime(from: speed), from: speed) }
    return drag == 0 ? (speed > 0 ? .infinity : 0) : speed / drag
  }

  /// Returns the time in seconds that a disc with initial speed `speed` takes to cover `distance`
  /// meters, or nil if it stops first.
  public func time(toSlide distance: Double, from speed: Double) -> Double? {
    guard distance > 0 else { return 0 }
    guard speed > 0 else { return nil }
    if deceleration == 0 {
      let clock = distance / speed
      return drag * clock < 1 ? time(atClock: clock) : nil
    }
    if drag == 0 {
      let squared = speed * speed - 2 * deceleration * distance
      return squared < 0 ? nil : 2 * distance / (speed + squared.squareRoot())
    }
    return newtonTime(toSlide: distance, from: speed)
  }

  /// Solves distance(t) = `distance` for t by Newton's method, starting at t = 0. Returns nil if
  /// the disc stops before it has moved that far.
  private func newtonTime(toSlide distance: Double, from speed: Double) -> Double? {
    let stop = stopTime(from: speed)
    guard distance <= self.distance(after: stop, from: speed) else { return nil }
    var time = 0.0
    for _ in 0..<100 {
      let missing = distance - self.distance(after: time, from: speed)
      let now = self.speed(after: time, from: speed)
      guard missing > 0, now > 0 else { break }
      let next = min(time + missing / now, stop)
      if next == time { break }
      time = next
    }
    return time
  }

  /// Returns the integral of the clock from 0 to `time`, (t - s) / k. For small k t, a series
  /// avoids the cancellation in t - s.
  private func clockIntegral(to time: Double, clock: Double) -> Double {
    let x = drag * time
    guard x < 0.25 else { return (time - clock) / drag }
    var sum = 0.0
    for divisor in stride(from: 16, through: 3, by: -1) { sum = (1 - sum * x) / Double(divisor) }
    return time * time * (1 - sum * x) / 2
  }
}
