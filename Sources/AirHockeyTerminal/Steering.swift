import AirHockey
import CaromCore
import CaromPhysics

/// One mallet's way from pushes and pointings to places: keys give a velocity, the pointer a place;
/// whichever moved last counts.
struct Steering: Hashable, Sendable {
  /// How fast keys move a mallet at most, m/s: over the whole half in a quarter of a second.
  static let speed = 3.6
  /// How quickly keys bring it there, m/s².
  static let acceleration = 36.0
  /// How quickly it stops when nothing is pressed, m/s².
  static let braking = 60.0
  /// Without reports of releases, a key counts as down this long after it was pressed or repeated.
  /// Keyboards repeat 25 to 30 times a second, after a first wait of a quarter second or more.
  static let memory = Duration.milliseconds(180)
  /// How much of the way to the pointer a mallet goes in a tick. The pointer jumps from cell to
  /// cell, which is some centimetres; this makes one movement of the jumps.
  static let pursuit = 0.45
  /// Longer pauses between samples count as this: nothing leaps after a wait.
  static let longestStep = 0.05

  /// When each direction was last pressed; `nil` for those that are up.
  private var pressed: [Instant?] = [nil, nil, nil, nil]
  private var pointer: Vector?
  private var velocity = Vector.zero
  private var last: Instant?

  mutating func push(_ direction: Direction, isDown: Bool, at now: Instant) {
    pointer = nil
    pressed[direction.rawValue] = isDown ? now : nil
    // The newer of two opposite keys wins.
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

  /// Where the mallet shall be at the next tick.
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
