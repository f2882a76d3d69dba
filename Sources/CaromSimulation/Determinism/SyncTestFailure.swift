/// The error thrown when a simulation produces a different result for a tick that is simulated
/// again. Either something outside the state influences a step, or `copy(_:)` does not copy
/// everything.
public struct SyncTestFailure: Error, Hashable, Sendable {
  /// The first tick whose state or events differ.
  public var tick: Tick
  /// The fields that differ. `mine` is the value from the first simulation, `theirs` the value from
  /// the second. Empty if only the events differ.
  public var differences: [DesyncReport.Difference]
  /// Whether the events differ rather than the state.
  public var eventsDiffer: Bool
}

extension SyncTestFailure: CustomStringConvertible {
  /// The failure as one line, with the tick and the first difference.
  public var description: String {
    if eventsDiffer { return "tick \(tick) emits different events when it is simulated again" }
    guard let first = differences.first else {
      return "tick \(tick) has a different hash when it is simulated again"
    }
    return "tick \(tick) simulated again: \(first.entity) \(first.number), \(first.field) was "
      + "\(first.mine) and is \(first.theirs)"
  }
}
