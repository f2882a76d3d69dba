import CaromCore

/// Smooths a visual correction: the drawn position glides to the corrected one within a tenth of a
/// second, with a smooth start and end. Only the drawing lags; the simulation is corrected at once.
///
/// A blend applies to a point with two coordinates. The caller must keep the sum of position and
/// offset inside the walls.
public struct PredictionBlend: Hashable, Sendable {
  /// The time over which a correction is blended: 100 ms.
  public static let length = Duration.milliseconds(100)
  /// The distance, in the unit of the coordinates, above which a correction is drawn at once
  /// instead of blended.
  public var jump: Double

  private var x = 0.0
  private var y = 0.0
  private var since = Instant.zero

  /// Creates a blend without a correction in progress.
  public init(jump: Double = .infinity) { self.jump = jump }

  /// Records a correction at `now` that moved the true position from `old` to `new`. Neither
  /// position includes the blend's offset. The drawn position continues from its current place,
  /// unless that is farther than `jump` from `new`.
  public mutating func correct(
    from old: (x: Double, y: Double), to new: (x: Double, y: Double), at now: Instant
  ) {
    let shown = offset(at: now)
    let next = (x: old.x + shown.x - new.x, y: old.y + shown.y - new.y)
    let isJump = next.x * next.x + next.y * next.y > jump * jump
    x = isJump ? 0 : next.x
    y = isJump ? 0 : next.y
    since = now
  }

  /// Returns the offset to add to the true position when drawing at `now`. The offset is zero once
  /// 100 ms have passed since the last correction.
  public func offset(at now: Instant) -> (x: Double, y: Double) {
    let passed = Double((now - since).wholeNanoseconds) / Double(Self.length.wholeNanoseconds)
    guard passed < 1 else { return (0, 0) }
    let u = max(0, passed)
    let left = 1 - u * u * (3 - 2 * u)
    return (x * left, y * left)
  }
}
