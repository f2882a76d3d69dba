/// A distance within which entities are sent at a particular interval.
public struct InterestTier: Hashable, Sendable {
  /// The maximum distance from the focus, in the unit of positions.
  public var radius: Double
  /// The number of ticks between two snapshots that include an entity.
  public var interval: Int

  /// Creates a tier of entities within `radius`, sent every `interval` ticks.
  public init(within radius: Double, every interval: Int = 1) {
    precondition(
      radius > 0 && interval >= 1, "the radius must be positive and the interval at least 1 tick")
    self.radius = radius
    self.interval = interval
  }
}
