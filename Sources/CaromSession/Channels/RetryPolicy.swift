import CaromCore
import CaromTransport

/// The number of attempts that `Session.join` makes if the host does not answer or is busy, and the
/// delays between them.
public struct RetryPolicy: Hashable, Sendable {
  /// The total number of attempts, at least 1.
  public var attempts: Int
  /// The delay before the second attempt. Each later delay is twice as long as the previous delay.
  public var firstDelay: Duration
  /// The maximum delay between two attempts.
  public var longestDelay: Duration

  /// Creates a policy that makes up to `attempts` attempts. Each actual delay is chosen at random
  /// between half the nominal delay and the full nominal delay, so that clients that lost a host
  /// together do not all reconnect at the same time.
  public init(
    attempts: Int, firstDelay: Duration = .milliseconds(250), longestDelay: Duration = .seconds(8)
  ) {
    precondition(attempts >= 1, "joining takes at least one attempt")
    self.attempts = attempts
    self.firstDelay = firstDelay
    self.longestDelay = longestDelay
  }

  /// The policy that makes only one attempt.
  public static let never = RetryPolicy(attempts: 1)

  /// Returns the delay after attempt number `attempt`, or nil if that was the last attempt.
  func delay(after attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration? {
    guard attempt < attempts else { return nil }
    let whole = min(longestDelay, firstDelay * (1 << min(attempt - 1, 20)))
    return whole * Double.random(in: 0.5...1, using: &generator)
  }
}

extension SessionError {
  /// Whether another attempt may succeed.
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
