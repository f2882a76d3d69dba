/// What rollback has cost so far.
public struct RollbackStatistics: Hashable, Sendable {
  /// Steps made for the first time.
  public var steps = 0
  /// Ticks that waited because the prediction window was used up.
  public var stalls = 0
  /// How often the past was corrected.
  public var rollbacks = 0
  /// Steps made again.
  public var resimulatedSteps = 0
  /// The most steps made again at once.
  public var deepestRollback = 0
  /// Events that nobody fetched in time.
  public var droppedEvents = 0

  /// Nothing yet.
  public init() {}
}
