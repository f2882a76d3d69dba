/// The part of a world that a client receives: the entities near its focus. Nearer entities are
/// sent more often.
public struct InterestArea: Hashable, Sendable {
  /// The factor by which the radius for leaving the area exceeds the radius for entering it.
  static let leaveFactor = 1.05

  /// The tiers, in order of increasing radius.
  public let tiers: [InterestTier]
  /// The index of the field with the first coordinate of an entity's position. The next field is
  /// the second coordinate.
  public let positionField: Int
  /// The number of ticks between two searches for entities that entered or left the area.
  public let refreshInterval: Int

  /// Creates an area with the given tiers, which must be in order of increasing radius.
  public init(_ tiers: [InterestTier], positionField: Int = 0, refreshInterval: Int = 6) {
    precondition(
      !tiers.isEmpty && refreshInterval >= 1,
      "an area needs a tier and a refresh interval of at least 1 tick")
    precondition(
      zip(tiers, tiers.dropFirst()).allSatisfy { $0.radius < $1.radius },
      "tiers must be in order of increasing radius")
    self.tiers = tiers
    self.positionField = positionField
    self.refreshInterval = refreshInterval
  }

  /// Creates an area that sends every entity within a radius in every tick.
  public init(within radius: Double) { self.init([InterestTier(within: radius)]) }

  /// The radius of the outermost tier.
  var radius: Double { tiers[tiers.count - 1].radius }

  /// Returns the interval in ticks at which an entity is sent. `squared` is the square of its
  /// distance from the focus in steps, and `step` is the size of a step.
  func interval(squared: Double, step: Double) -> Int {
    for tier in tiers where squared <= (tier.radius / step) * (tier.radius / step) {
      return tier.interval
    }
    return tiers[tiers.count - 1].interval
  }
}

/// A distance from the focus, and the interval at which entities within that distance are sent.
public struct InterestTier: Hashable, Sendable {
  /// The maximum distance from the focus, in the unit of the position fields.
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
