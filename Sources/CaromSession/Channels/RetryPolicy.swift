import CaromCore
import CaromTransport

/// How often a session is joined again when nobody answers or the host is busy.
public struct RetryPolicy: Hashable, Sendable {
  /// Attempts in all, 1 or more.
  public var attempts: Int
  /// How long the second attempt waits; each one after it waits twice as long.
  public var firstDelay: Duration
  /// The longest wait.
  public var longestDelay: Duration

  /// Waits are drawn from the upper half of their length, so that those who lost a host together
  /// do not come back together.
  public init(
    attempts: Int, firstDelay: Duration = .milliseconds(250), longestDelay: Duration = .seconds(8)
  ) {
    precondition(attempts >= 1, "joining takes one attempt at least")
    self.attempts = attempts
    self.firstDelay = firstDelay
    self.longestDelay = longestDelay
  }

  /// One attempt.
  public static let never = RetryPolicy(attempts: 1)

  /// How long to wait after so many attempts; `nil` when there is to be none after them.
  func delay(after attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration? {
    guard attempt < attempts else { return nil }
    let whole = min(longestDelay, firstDelay * (1 << min(attempt - 1, 20)))
    return whole * Double.random(in: 0.5...1, using: &generator)
  }
}

extension SessionError {
  /// Whether another attempt may come to more.
  var isWorthRetrying: Bool {
    switch self {
    case .transport(.cancelled): false
    case .transport: true
    case .refused(.busy), .refused(.handshakeTimeout), .refused(.timedOut),
      .refused(.connectionLost), .refused(.connectionReset):
      true
    case .refused: false
    }
  }
}
