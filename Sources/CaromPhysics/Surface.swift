/// What discs lose at contacts and while they slide.
public struct Surface: Hashable, Sendable {
  /// Restitution at rails and posts, 0 to 1.
  public var railRestitution: Double
  /// Restitution between discs, 0 to 1.
  public var discRestitution: Double
  /// Friction coefficient at rails and posts; it couples sliding and spin.
  public var railFriction: Double
  /// How free discs slow down.
  public var glide: Glide

  /// A surface; by default nothing is lost.
  public init(
    railRestitution: Double = 1, discRestitution: Double = 1, railFriction: Double = 0,
    glide: Glide = Glide()
  ) {
    self.railRestitution = railRestitution
    self.discRestitution = discRestitution
    self.railFriction = railFriction
    self.glide = glide
  }
}
