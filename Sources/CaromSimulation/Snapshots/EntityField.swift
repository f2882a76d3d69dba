/// The encoding of one entity field: an integer number of steps within fixed bounds, and the rule
/// that predicts its next value. Both ends must use the same definition.
public struct EntityField: Hashable, Sendable {
  /// The rule that predicts a field's new value. The value is coded as its difference from the
  /// prediction.
  public enum Prediction: UInt8, Sendable {
    /// The previous value, unchanged. Suits fields that change rarely.
    case held
    /// The previous value extrapolated with its last velocity.
    case linear
  }

  /// The maximum width, in bits, of a field's uncompressed value.
  public static let maximumWidth = 48

  /// The lowest value, in steps.
  public let lowerBound: Int64
  /// The highest value, in steps.
  public let upperBound: Int64
  /// The prediction for this field.
  public let prediction: Prediction
  /// Whether the values wrap around, as angles do: the lowest value follows the highest one.
  public let wraps: Bool
  /// The size of a step, in the unit of the field's quantity, such as meters or radians.
  public let step: Double

  /// Creates a field with bounds in whole steps, each of which must fit into a signed 48-bit
  /// integer.
  public init(
    _ bounds: ClosedRange<Int64>, prediction: Prediction = .held, wraps: Bool = false,
    step: Double = 1
  ) {
    let limit = Int64(1) << (Self.maximumWidth - 1)
    precondition(
      bounds.lowerBound >= -limit && bounds.upperBound < limit,
      "bounds must fit into 48 signed bits")
    precondition(step > 0, "the step must be positive")
    lowerBound = bounds.lowerBound
    upperBound = bounds.upperBound
    self.prediction = prediction
    self.wraps = wraps
    self.step = step
  }

  /// Creates a field for a position along one axis, extrapolated with its velocity. `bounds` and
  /// `step` are in the unit of the position.
  public static func position(_ bounds: ClosedRange<Double>, step: Double) -> EntityField {
    let lower = Int64((bounds.lowerBound / step).rounded(.down))
    let upper = Int64((bounds.upperBound / step).rounded(.up))
    return EntityField(lower...upper, prediction: .linear, step: step)
  }

  /// Creates a field for a direction in radians, rounded to a multiple of 1/2^`bits` of a full
  /// turn.
  public static func angle(bits: Int) -> EntityField {
    precondition((1...32).contains(bits), "an angle must have 1 to 32 bits")
    let parts = Int64(1) << Int64(bits)
    return EntityField(0...(parts - 1), wraps: true, step: 2 * Double.pi / Double(parts))
  }

  /// Creates a field for an integer, which is predicted to stay the same.
  public static func integer(_ bounds: ClosedRange<Int64>) -> EntityField { EntityField(bounds) }

  /// A field for a Boolean.
  public static let flag = EntityField(0...1)

  /// The width of the uncompressed value in bits.
  var width: Int { Int.bitWidth - Int(upperBound - lowerBound).leadingZeroBitCount }

  /// The number of possible values.
  var span: Int64 { upperBound - lowerBound + 1 }

  /// Rounds `value` to the nearest step within the bounds. A value that is not a number becomes the
  /// lowest value.
  public func quantized(_ value: Double) -> Int64 {
    let steps = (value / step).rounded()
    guard !wraps else { return wrapped(steps) }
    guard steps > Double(lowerBound) else { return lowerBound }
    return steps < Double(upperBound) ? Int64(steps) : upperBound
  }

  /// Returns the value within the bounds that is nearest to `value`.
  func clamped(_ value: Int64) -> Int64 {
    guard !wraps else { return wrapped(value) }
    return min(max(value, lowerBound), upperBound)
  }

  private func wrapped(_ steps: Double) -> Int64 {
    guard steps.magnitude < 0x1p62 else { return lowerBound }
    return wrapped(Int64(steps))
  }

  /// Returns `value`, wrapped around into the bounds.
  func wrapped(_ value: Int64) -> Int64 {
    let rest = (value &- lowerBound) % span
    return lowerBound + (rest < 0 ? rest + span : rest)
  }
}
