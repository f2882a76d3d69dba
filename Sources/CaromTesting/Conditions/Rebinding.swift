import CaromCore

/// Periodic rebindings of a NAT in front of the sender. At each rebinding, the receiver sees a new
/// source address or port, and packets to the old address or port are lost.
///
/// Before the first rebinding, the receiver sees the sender's own address and port. A rebinding
/// breaks streams: the next bytes that the client sends are answered with a reset, and the listener
/// receives nothing more.
public struct Rebinding: Hashable, Sendable {
  /// The part of the sender's visible endpoint that changes.
  public enum Change: Hashable, Sendable {
    /// The source port changes, as happens when a NAT is restarted or a mapping expires.
    case port
    /// The source address changes, as happens when a host moves to another network.
    case address
  }

  /// The part of the sender's visible endpoint that changes.
  public let change: Change
  /// The time between two rebindings.
  public let period: Duration
  /// The time of the first rebinding.
  public let first: Instant

  /// Creates periodic rebindings: one at `first`, and another one each `period` after that.
  public init(_ change: Change = .port, every period: Duration, from first: Instant) {
    precondition(period > .zero, "a rebinding's period must be positive")
    self.change = change
    self.period = period
    self.first = first
  }

  /// Returns the number of rebindings that have happened up to `now`.
  func count(at now: Instant) -> Int {
    guard now >= first else { return 0 }
    return 1 + Int((now - first).wholeNanoseconds / period.wholeNanoseconds)
  }
}
