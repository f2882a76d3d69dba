/// What came in and was dropped, by reason.
public struct DiscoveryCounters: Hashable, Sendable {
  /// Longer than any message of multicast DNS may be.
  public var oversized = 0
  /// Sent to this host alone, from outside the link.
  public var offLink = 0
  /// No DNS message, or one over a limit.
  public var malformed = 0
  /// An opcode or a response code that multicast DNS does not have.
  public var notStandard = 0
  /// A response from a port other than 5353.
  public var foreignPort = 0

  /// Nothing was dropped.
  public init() {}

  mutating func add(_ other: DiscoveryCounters) {
    oversized += other.oversized
    offLink += other.offLink
    malformed += other.malformed
    notStandard += other.notStandard
    foreignPort += other.foreignPort
  }
}
