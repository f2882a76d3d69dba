/// What a puck met in one step.
public struct PuckTouches: Hashable, Sendable {
  /// Bounces off rails.
  public var rails = 0
  /// Bounces off goal posts.
  public var posts = 0
  /// Hits by the first mallet.
  public var firstMallet = 0
  /// Hits by the second mallet.
  public var secondMallet = 0
  /// The goal that the puck's centre crossed: -1 at -x, +1 at +x, 0 for none.
  public var goal = 0
  /// When the goal was scored, seconds from the step's beginning; otherwise the step's length.
  public var endTime = 0.0
  /// The greatest closing speed among the contacts, metres a second.
  public var impact = 0.0
  /// Whether the puck was pinned: stopped after more contacts than a step may have.
  public var pinned = false

  /// Nothing touched.
  public init() {}

  /// Rails, posts and mallets together, and 1 for a goal.
  public var count: Int { rails + posts + firstMallet + secondMallet + (goal == 0 ? 0 : 1) }
}
