/// The number of received datagrams that were dropped, for each reason.
public struct DiscoveryCounters: Hashable, Sendable {
  /// The number of datagrams longer than the largest multicast DNS message.
  public var oversized = 0
  /// The number of unicast datagrams from hosts outside the link.
  public var offLink = 0
  /// The number of datagrams that are not valid DNS messages or exceed a limit.
  public var malformed = 0
  /// The number of messages with an opcode or response code that multicast DNS does not use.
  public var notStandard = 0
  /// The number of responses from a port other than 5353.
  public var foreignPort = 0

  /// Creates counters that are all zero.
  public init() {}

  mutating func add(_ other: DiscoveryCounters) {
    oversized += other.oversized
    offLink += other.offLink
    malformed += other.malformed
    notStandard += other.notStandard
    foreignPort += other.foreignPort
  }
}
