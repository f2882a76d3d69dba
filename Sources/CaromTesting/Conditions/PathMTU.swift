import CaromCore

/// The MTU of a path, which is the maximum length of an IP packet in bytes, and its changes over
/// time.
///
/// Longer packets are dropped silently, as on a path whose firewall blocks ICMP (a black hole, RFC
/// 2923 §2.1). A UDP payload is 28 bytes shorter than its packet over IPv4, and 48 bytes shorter
/// over IPv6. An IPv6 path always carries packets of up to 1,280 bytes (RFC 8200 §5).
public struct PathMTU: Hashable, Sendable, ExpressibleByIntegerLiteral {
  /// A change of the MTU.
  public struct Change: Hashable, Sendable {
    /// The time of the change.
    public let time: Instant
    /// The new MTU, in bytes.
    public let bytes: Int

    /// Creates a change to `bytes` at `time`.
    public init(_ bytes: Int, from time: Instant) {
      precondition(bytes >= PathMTU.minimum, "an MTU must be at least 68 bytes")
      self.bytes = bytes
      self.time = time
    }
  }

  /// The smallest MTU of an IPv4 link, in bytes (RFC 791 §3.2).
  static let minimum = 68
  /// The smallest MTU of an IPv6 link, in bytes (RFC 8200 §5).
  private static let minimumV6 = 1_280

  /// The MTU before the first change, in bytes.
  public let initial: Int
  /// All changes, earliest first.
  public let changes: [Change]

  /// Creates an MTU of `initial` bytes, at least 68, which changes at the given times. `changes`
  /// must be ordered by time.
  public init(_ initial: Int, then changes: [Change] = []) {
    precondition(initial >= Self.minimum, "an MTU must be at least 68 bytes")
    precondition(
      zip(changes, changes.dropFirst()).allSatisfy { $0.time <= $1.time },
      "changes must be in the order of their times")
    self.initial = initial
    self.changes = changes
  }

  /// Creates a constant MTU of the given number of bytes.
  public init(integerLiteral value: Int) { self.init(value) }

  /// Returns the MTU at `now`, in bytes. For IPv6 it is at least 1,280.
  func bytes(at now: Instant, isV6: Bool) -> Int {
    let bytes = changes.last { $0.time <= now }?.bytes ?? initial
    return isV6 ? max(bytes, Self.minimumV6) : bytes
  }
}
