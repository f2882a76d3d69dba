/// How one field of an entity is quantised and foretold: an integer on a lattice, within bounds
/// that both ends know.
public struct EntityField: Hashable, Sendable {
  /// What a field is expected to be, before its difference from that is sent.
  public enum Prediction: UInt8, Sendable {
    /// What it was.
    case held
    /// What it was, moved on with the velocity that it had.
    case linear
  }

  /// The most bits that a field takes as it is.
  public static let maximumWidth = 48

  /// The lowest value, in steps.
  public let lowerBound: Int64
  /// The highest value, in steps.
  public let upperBound: Int64
  /// What it is expected to be.
  public let prediction: Prediction
  /// Whether the value after the highest is the lowest, as angles have it.
  public let wraps: Bool
  /// What a step is worth, for values that are given as `Double`.
  public let step: Double

  /// A field of whole steps.
  public init(
    _ bounds: ClosedRange<Int64>, prediction: Prediction = .held, wraps: Bool = false,
    step: Double = 1
  ) {
    let limit = Int64(1) << (Self.maximumWidth - 1)
    precondition(
      bounds.lowerBound >= -limit && bounds.upperBound < limit, "bounds within 48 signed bits")
    precondition(step > 0, "a step is more than nothing")
    lowerBound = bounds.lowerBound
    upperBound = bounds.upperBound
    self.prediction = prediction
    self.wraps = wraps
    self.step = step
  }

  /// Where something is along an axis: it moves on with its velocity.
  public static func position(_ bounds: ClosedRange<Double>, step: Double) -> EntityField {
    let lower = Int64((bounds.lowerBound / step).rounded(.down))
    let upper = Int64((bounds.upperBound / step).rounded(.up))
    return EntityField(lower...upper, prediction: .linear, step: step)
  }

  /// A direction in radians, as one of 2^`bits` parts of a turn.
  public static func angle(bits: Int) -> EntityField {
    precondition((1...32).contains(bits), "an angle has 1 to 32 bits")
    let parts = Int64(1) << Int64(bits)
    return EntityField(0...(parts - 1), wraps: true, step: 2 * Double.pi / Double(parts))
  }

  /// A whole number that stays until it changes.
  public static func integer(_ bounds: ClosedRange<Int64>) -> EntityField { EntityField(bounds) }

  /// Yes or no.
  public static let flag = EntityField(0...1)

  /// Bits of the value as it is.
  var width: Int { Int.bitWidth - Int(upperBound - lowerBound).leadingZeroBitCount }

  /// How many values there are.
  var span: Int64 { upperBound - lowerBound + 1 }

  /// The nearest step to `value`; what is not a number is the lowest value.
  public func quantized(_ value: Double) -> Int64 {
    let steps = (value / step).rounded()
    guard !wraps else { return wrapped(steps) }
    guard steps > Double(lowerBound) else { return lowerBound }
    return steps < Double(upperBound) ? Int64(steps) : upperBound
  }

  /// The nearest value that the field can have.
  func clamped(_ value: Int64) -> Int64 {
    guard !wraps else { return wrapped(value) }
    return min(max(value, lowerBound), upperBound)
  }

  private func wrapped(_ steps: Double) -> Int64 {
    guard steps.magnitude < 0x1p62 else { return lowerBound }
    return wrapped(Int64(steps))
  }

  /// The value of the same direction.
  func wrapped(_ value: Int64) -> Int64 {
    let rest = (value &- lowerBound) % span
    return lowerBound + (rest < 0 ? rest + span : rest)
  }
}
