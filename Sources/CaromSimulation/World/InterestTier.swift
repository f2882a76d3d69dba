/// How often a client hears of what is near enough.
public struct InterestTier: Hashable, Sendable {
  /// Within this distance, in what positions are given in.
  public var radius: Double
  /// A snapshot tells of it every that many ticks.
  public var interval: Int

  /// Whoever is within `radius`, every `interval` ticks.
  public init(within radius: Double, every interval: Int = 1) {
    precondition(radius > 0 && interval >= 1, "a radius, and every tick at most")
    self.radius = radius
    self.interval = interval
  }
}
