/// What part of a world a client sees: whoever is near its focus, the nearer the more often.
public struct InterestArea: Hashable, Sendable {
  /// Who is seen stays until it is this much farther away than who comes is.
  static let leaveFactor = 1.05

  /// The tiers, the nearest first.
  public let tiers: [InterestTier]
  /// The fields that say where an entity is; the next one is the other coordinate.
  public let positionField: Int
  /// Ticks from one look for who came near or went away to the next.
  public let refreshInterval: Int

  /// An area of these tiers.
  public init(_ tiers: [InterestTier], positionField: Int = 0, refreshInterval: Int = 6) {
    precondition(!tiers.isEmpty && refreshInterval >= 1, "a tier, and a look now and then")
    precondition(
      zip(tiers, tiers.dropFirst()).allSatisfy { $0.radius < $1.radius },
      "each tier is wider than the one before")
    self.tiers = tiers
    self.positionField = positionField
    self.refreshInterval = refreshInterval
  }

  /// Everybody within a radius, each tick.
  public init(within radius: Double) { self.init([InterestTier(within: radius)]) }

  /// The farthest that anybody is seen, but for who stays.
  var radius: Double { tiers[tiers.count - 1].radius }

  /// How often somebody is told of at a distance whose square is given in steps.
  func interval(squared: Double, step: Double) -> Int {
    for tier in tiers where squared <= (tier.radius / step) * (tier.radius / step) {
      return tier.interval
    }
    return tiers[tiers.count - 1].interval
  }
}
