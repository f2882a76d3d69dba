import CaromCore

/// A run that does not come to rest: nodes that answer each other without end, or a timeout that
/// stays due after it was handled.
public struct StepLimitExceeded: Error, Hashable, Sendable, CustomStringConvertible {
  /// The limit.
  public let limit: Int
  /// The virtual time when it was reached.
  public let at: Instant

  /// The limit was reached at that time.
  public init(limit: Int, at time: Instant) {
    self.limit = limit
    at = time
  }

  /// One line for people.
  public var description: String {
    "no rest after \(limit) steps, at \(Duration.nanoseconds(at.nanoseconds)): "
      + "is a timeout still due after it was handled?"
  }
}
