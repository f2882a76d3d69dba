import CaromCore

/// Hides a correction: what was drawn moves to where it belongs within a tenth of a second,
/// smoothly at both ends. Only the picture lags; the simulation is right at once.
///
/// For a point of two coordinates; whoever draws keeps the sum inside the walls.
public struct PredictionBlend: Hashable, Sendable {
  /// How long an error is seen: 100 ms.
  public static let length = Duration.milliseconds(100)
  /// From this size on, in the unit of the coordinates, an error is not blended: it jumps.
  public var jump: Double

  private var x = 0.0
  private var y = 0.0
  private var since = Instant.zero

  /// Nothing to hide yet.
  public init(jump: Double = .infinity) { self.jump = jump }

  /// The place jumped from `old` to `new` by a correction at `now`, in places without any blend:
  /// what is drawn goes on from where it is.
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

  /// What is to be added to the true place when drawing at `now`; zero 100 ms after a correction.
  public func offset(at now: Instant) -> (x: Double, y: Double) {
    let passed = Double((now - since).wholeNanoseconds) / Double(Self.length.wholeNanoseconds)
    guard passed < 1 else { return (0, 0) }
    let u = max(0, passed)
    let left = 1 - u * u * (3 - 2 * u)
    return (x * left, y * left)
  }
}
