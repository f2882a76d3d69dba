/// Datagrams that take a longer way than the others, and are overtaken there.
public struct Reordering: Hashable, Sendable {
  /// The share of all datagrams, 0 to 1.
  public let share: Double
  /// How much later these come.
  public let lateness: Duration

  /// Holds a share of the datagrams back.
  public init(_ share: Double, by lateness: Duration) {
    precondition((0...1).contains(share), "a share is 0 to 1")
    precondition(lateness >= .zero, "a lateness is not negative")
    self.share = share
    self.lateness = lateness
  }
}
