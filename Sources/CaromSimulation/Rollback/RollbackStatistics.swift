/// Counts of simulated, stalled and resimulated ticks, which show the cost of prediction and
/// rollback.
public struct RollbackStatistics: Hashable, Sendable {
  /// The number of ticks simulated for the first time.
  public var steps = 0
  /// The number of calls to `advance()` that stalled because the prediction window was exhausted.
  public var stalls = 0
  /// The number of times that an earlier state was restored.
  public var rollbacks = 0
  /// The number of ticks simulated again.
  public var resimulatedSteps = 0
  /// The largest number of ticks simulated again in one rollback.
  public var deepestRollback = 0
  /// The number of events dropped because the queue of unpolled events was full.
  public var droppedEvents = 0

  /// Creates statistics with all counts at zero.
  public init() {}
}
