// How the next value of a field is predicted, and the difference from the prediction coded.
extension SnapshotFormat {
  /// Returns the value predicted for `ticks` ticks after the value `last`.
  @inline(__always) static func predict(
    _ last: Int64, _ velocity: Int64, _ ticks: Int64, _ field: Field
  ) -> Int64 {
    guard velocity != 0 else { return last }
    let way =
      (velocity &* ticks &+ 1 << (EntityRecord.velocityShift - 1))
      >> EntityRecord.velocityShift
    guard field.wraps else { return min(max(last &+ way, field.lower), field.upper) }
    let value = last + way % field.span
    return value > field.upper
      ? value - field.span : value < field.lower ? value + field.span : value
  }

  /// Returns the difference of a value from its prediction, taken the shorter way around if the
  /// field wraps.
  @inline(__always) static func difference(
    _ value: Int64, _ predicted: Int64, _ field: Field
  ) -> Int64 {
    let difference = value &- predicted
    guard field.wraps else { return difference }
    let half = field.span >> 1
    if difference >= field.span - half { return difference - field.span }
    return difference < -half ? difference + field.span : difference
  }

  /// Returns the value that has the given difference from the prediction: the inverse of
  /// `difference`. For a residual that no encoder produces, the result may be out of bounds.
  @inline(__always) static func sum(
    _ predicted: Int64, _ residual: Int64, _ field: Field
  ) -> Int64 {
    let (value, overflow) = predicted.addingReportingOverflow(residual)
    guard !overflow else { return .max }
    guard field.wraps else { return value }
    let half = field.span >> 1
    guard residual >= -half, residual < field.span - half else { return .max }
    if value > field.upper { return value - field.span }
    return value < field.lower ? value + field.span : value
  }

  /// Returns the velocity of a field that moved by `way` in `ticks` ticks. If the prediction was
  /// accurate, the result is the mean of the old and the measured velocity, which reduces the
  /// rounding error.
  @inline(__always) static func velocity(
    _ way: Int64, _ ticks: Int64, before: Int64, _ residual: Int64
  ) -> Int64 {
    guard way != 0 else { return 0 }
    let measured = way &* (1 << EntityRecord.velocityShift) / ticks
    return residual.magnitude <= 1 ? (before + measured) / 2 : measured
  }
}
