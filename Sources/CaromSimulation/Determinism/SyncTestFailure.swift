/// A simulation that is not the same when it is made again: something outside its state has a say,
/// or its `copy` leaves something out.
public struct SyncTestFailure: Error, Hashable, Sendable {
  /// The first tick whose state, or whose events, came out otherwise.
  public var tick: Tick
  /// What differs; "mine" is what the first time gave.
  public var differences: [DesyncReport.Difference]
  /// Whether the events differ, not the state.
  public var eventsDiffer: Bool
}

extension SyncTestFailure: CustomStringConvertible {
  /// One line.
  public var description: String {
    if eventsDiffer { return "tick \(tick) made again has other events" }
    guard let first = differences.first else { return "tick \(tick) made again has another hash" }
    return "tick \(tick) made again: \(first.entity) \(first.number), \(first.field) was "
      + "\(first.mine) and is \(first.theirs)"
  }
}
