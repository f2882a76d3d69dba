import CaromCore

/// The error thrown by a run that exceeds its step limit, because nodes answer each other endlessly
/// or because a timeout remains due after it has been handled.
public struct StepLimitExceeded: Error, Hashable, Sendable, CustomStringConvertible {
  /// The step limit of the run.
  public let limit: Int
  /// The virtual time at which the limit was reached.
  public let at: Instant

  /// Creates an error for a run that reached its step limit at `time`.
  public init(limit: Int, at time: Instant) {
    self.limit = limit
    at = time
  }

  /// A one-line message with the limit, the time and a hint.
  public var description: String {
    "still running after \(limit) steps, at \(Duration.nanoseconds(at.nanoseconds)); "
      + "check whether a timeout remains due after it was handled"
  }
}
