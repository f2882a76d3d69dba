import AirHockey
import CaromCore
import CaromPhysics

/// Computes one mallet's target from keys and the pointer. Keys set a velocity, and the pointer
/// sets a position; the device that was used last is in control.
struct Steering: Hashable, Sendable {
  /// The maximum speed of a mallet moved by keys, in m/s: across half the table in about a quarter
  /// of a second.
  static let speed = 3.6
  /// The acceleration while a key is down, in m/s².
  static let acceleration = 36.0
  /// The deceleration when no key is down, in m/s².
  static let braking = 60.0
  /// The time for which a key counts as down after a press or repeat if the terminal does not
  /// report releases. Keyboards repeat 25 to 30 times a second, after an initial delay of a quarter
  /// of a second or more.
  static let memory = Duration.milliseconds(180)
  /// The fraction of the distance to the pointer that a mallet covers in one tick. The pointer
  /// jumps from cell to cell, a few centimeters at a time; a fraction below 1 smooths the jumps.
  static let pursuit = 0.45
  /// The maximum time between two samples, in seconds. A longer pause counts as this time, so that
  /// the mallet does not jump when the pause ends.
  static let longestStep = 0.05

  /// The time at which each direction was last pressed, indexed by `rawValue`, or nil if its key is
  /// up.
  private var pressed: [Instant?] = [nil, nil, nil, nil]
  private var pointer: Vector?
  private var velocity = Vector.zero
  private var last: Instant?

  mutating func push(_ direction: Direction, isDown: Bool, at now: Instant) {
    pointer = nil
    pressed[direction.rawValue] = isDown ? now : nil
    // Of two opposite keys, the newer one wins.
    if isDown { pressed[direction.opposite.rawValue] = nil }
  }

  mutating func point(at place: Vector) {
    pointer = place
    letGoOfKeys()
  }

  mutating func letGo() {
    pointer = nil
    letGoOfKeys()
  }

  private mutating func letGoOfKeys() {
    pressed = [nil, nil, nil, nil]
    velocity = .zero
  }

  /// Returns the mallet's target position for the next tick, in meters. `mallet` is its current
  /// position. If `releasesAreKnown` is false, each key counts as released once `memory` has
  /// passed.
  mutating func target(
    from mallet: Vector, at now: Instant, _ releasesAreKnown: Bool
  ) -> Vector {
    let elapsed = last.map { Double(($0.duration(to: now)).wholeNanoseconds) / 1e9 } ?? Preset.step
    let step = min(max(elapsed, 0), Self.longestStep)
    last = now
    if let pointer { return mallet + (pointer - mallet) * Self.pursuit }
    if !releasesAreKnown { forget(at: now) }
    let wanted = wish.limited(to: 1) * Self.speed
    let change = wanted - velocity
    let strength = wanted == .zero ? Self.braking : Self.acceleration
    velocity += change.limited(to: strength * step)
    return mallet + velocity * Preset.step
  }

  private mutating func forget(at now: Instant) {
    for index in pressed.indices {
      if let since = pressed[index], now - since > Self.memory { pressed[index] = nil }
    }
  }

  private var wish: Vector {
    Direction.allCases.reduce(Vector.zero) { sum, direction in
      pressed[direction.rawValue] == nil ? sum : sum + direction.vector
    }
  }
}
