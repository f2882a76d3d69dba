import CaromCore

/// A translator (NAT) in front of the sender that forgets now and then: the receiver then sees
/// another source, and what it sends to the old one is lost.
///
/// At first the source is the sender's own. A stream does not live through it: the caller's next
/// bytes are answered with a reset, the other end hears nothing more.
public struct Rebinding: Hashable, Sendable {
  /// What others see change.
  public enum Change: Hashable, Sendable {
    /// The source port: a translator was restarted, or a mapping ran out.
    case port
    /// The source address: from one network into another.
    case address
  }

  /// What changes.
  public let change: Change
  /// How long each source holds.
  public let period: Duration
  /// When the first change comes.
  public let first: Instant

  /// A change at `first`, and one each `period` from then on.
  public init(_ change: Change = .port, every period: Duration, from first: Instant) {
    precondition(period > .zero, "a source holds for a while")
    self.change = change
    self.period = period
    self.first = first
  }

  /// How many changes there were.
  func count(at now: Instant) -> Int {
    guard now >= first else { return 0 }
    return 1 + Int((now - first).wholeNanoseconds / period.wholeNanoseconds)
  }
}
