import CaromCore

/// The longest packet that a way carries, and when that changes.
///
/// What is longer is dropped without a word, as where a firewall eats the message that would tell
/// (RFC 2923 §2.1): the sender has to find out. The length is that of the IP packet: a UDP payload
/// may have 28 bytes less over IPv4 and 48 less over IPv6, which always carries 1,280 (RFC 8200
/// §5).
public struct PathMTU: Hashable, Sendable, ExpressibleByIntegerLiteral {
  /// A new length from a time on.
  public struct Change: Hashable, Sendable {
    /// From when on.
    public let time: Instant
    /// The longest IP packet, bytes.
    public let bytes: Int

    /// `bytes` from `time` on.
    public init(_ bytes: Int, from time: Instant) {
      precondition(bytes >= PathMTU.minimum, "every link carries 68 bytes")
      self.bytes = bytes
      self.time = time
    }
  }

  /// What every IPv4 link carries (RFC 791 §3.2).
  static let minimum = 68
  /// What every IPv6 link carries (RFC 8200 §5).
  private static let minimumV6 = 1_280

  /// The longest IP packet at first, bytes.
  public let initial: Int
  /// What comes later, earliest first.
  public let changes: [Change]

  /// At least 68 bytes; `changes` in the order of their times.
  public init(_ initial: Int, then changes: [Change] = []) {
    precondition(initial >= Self.minimum, "every link carries 68 bytes")
    precondition(
      zip(changes, changes.dropFirst()).allSatisfy { $0.time <= $1.time },
      "changes come in the order of their times")
    self.initial = initial
    self.changes = changes
  }

  /// The same length always.
  public init(integerLiteral value: Int) { self.init(value) }

  /// The longest IP packet now.
  func bytes(at now: Instant, isV6: Bool) -> Int {
    let bytes = changes.last { $0.time <= now }?.bytes ?? initial
    return isV6 ? max(bytes, Self.minimumV6) : bytes
  }
}
