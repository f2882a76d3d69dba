/// The law of free motion: dv/dt = -k v - a v/|v|; a disc at rest stays at rest.
///
/// The direction never changes, so speed and distance say everything. All functions are exact
/// solutions in continuous time: results do not depend on the length of a step.
public struct Glide: Hashable, Sendable {
  /// Linear drag k, 1/s.
  public var drag: Double
  /// Coulomb deceleration a, m/s^2.
  public var deceleration: Double

  /// The law with this drag and deceleration; by default nothing slows down.
  public init(drag: Double = 0, deceleration: Double = 0) {
    precondition(drag >= 0 && deceleration >= 0, "drag and deceleration only slow down")
    self.drag = drag
    self.deceleration = deceleration
  }

  /// s(t) = (1 - e^-kt) / k: in this clock a disc that only drag slows moves straight.
  @inline(__always)
  func clock(at time: Double) -> Double {
    drag == 0 ? time : -Elementary.exponentialMinusOne(-drag * time) / drag
  }

  /// The time at which the clock of `clock(at:)` shows `clock`; that must be under 1/k.
  @inline(__always)
  func time(atClock clock: Double) -> Double {
    drag == 0 ? clock : -Elementary.logarithmOfOnePlus(-drag * clock) / drag
  }

  /// The speed after `time` seconds of a disc that began at `speed`.
  public func speed(after time: Double, from speed: Double) -> Double {
    guard time < stopTime(from: speed) else { return 0 }
    return max(0, speed - (drag * speed + deceleration) * clock(at: time))
  }

  /// How far a disc that began at `speed` slides in `time` seconds.
  public func distance(after time: Double, from speed: Double) -> Double {
    let moving = deceleration == 0 ? time : min(time, stopTime(from: speed))
    let clock = clock(at: moving)
    guard deceleration > 0 else { return speed * clock }
    return speed * clock - deceleration * clockIntegral(to: moving, clock: clock)
  }

  /// When a disc of that speed comes to rest; infinite where drag alone slows it.
  public func stopTime(from speed: Double) -> Double {
    guard speed > 0 else { return 0 }
    guard deceleration > 0 else { return .infinity }
    guard drag > 0 else { return speed / deceleration }
    return Elementary.logarithmOfOnePlus(drag * speed / deceleration) / drag
  }

  /// How far a disc of that speed gets at most; infinite where nothing slows it.
  public func limitDistance(from speed: Double) -> Double {
    guard deceleration == 0 else { return distance(after: stopTime(from: speed), from: speed) }
    return drag == 0 ? (speed > 0 ? .infinity : 0) : speed / drag
  }

  /// When a disc that began at `speed` has slid `distance`; nil where it never gets there.
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

  /// Newton's method from the left on a rising concave curve: it never overshoots.
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

  /// The integral of the clock: (t - s) / k, by its series where the difference would cancel.
  private func clockIntegral(to time: Double, clock: Double) -> Double {
    let x = drag * time
    guard x < 0.25 else { return (time - clock) / drag }
    var sum = 0.0
    for divisor in stride(from: 16, through: 3, by: -1) { sum = (1 - sum * x) / Double(divisor) }
    return time * time * (1 - sum * x) / 2
  }
}
