/// The contacts of the dynamic disc in one step of a `SingleDiscSolver`.
public struct SingleDiscContacts: Hashable, Sendable {
  /// The number of bounces off rails.
  public var rails = 0
  /// The number of bounces off goal posts.
  public var posts = 0
  /// The number of hits by the first kinematic disc.
  public var firstHits = 0
  /// The number of hits by the second kinematic disc.
  public var secondHits = 0
  /// The goal line that the disc's center crossed: -1 for the line at -x, 1 for the line at +x, 0
  /// for none.
  public var goal = 0
  /// The time at which the disc crossed a goal line, in seconds since the start of the step, or the
  /// step's length if there was no goal.
  public var endTime = 0.0
  /// The greatest closing speed of all contacts, in meters per second.
  public var impact = 0.0
  /// Whether the disc was pinned: it stopped because it had more than
  /// `SingleDiscSolver.contactLimit` contacts.
  public var isPinned = false

  /// Creates a value without contacts.
  public init() {}

  /// The total number of contacts, including a goal.
  public var count: Int { rails + posts + firstHits + secondHits + (goal == 0 ? 0 : 1) }
}
