/// The statistics of a `VirtualNetwork`.
public struct NetworkCounters: Hashable, Sendable {
  /// The number of datagrams sent. A multicast datagram counts once.
  public var datagramsSent = 0
  /// The number of multicast datagrams sent.
  public var multicastsSent = 0
  /// The total number of payload bytes of all datagrams sent.
  public var datagramBytesSent = 0
  /// The number of deliveries of datagrams to sockets. A multicast datagram may be delivered to
  /// many sockets.
  public var datagramsDelivered = 0
  /// The number of datagrams dropped by random loss.
  public var datagramsLost = 0
  /// The number of datagrams that were duplicated.
  public var datagramsDuplicated = 0
  /// The number of datagrams dropped because of a cut, a partition or a crash.
  public var datagramsCut = 0
  /// The number of datagrams dropped because they could not be routed or no open socket was bound
  /// to their destination.
  public var datagramsUnclaimed = 0
  /// The number of dropped datagrams for each reason.
  public internal(set) var dropped = DropCounts()
  /// The number of bytes delivered by streams.
  public var streamBytesDelivered = 0

  /// Creates counters that are all zero.
  public init() {}

  mutating func countDrop(for reason: DropReason) {
    dropped[reason] += 1
    switch reason {
    case .loss, .burst: datagramsLost += 1
    case .cut, .crash: datagramsCut += 1
    case .unreachable, .unclaimed: datagramsUnclaimed += 1
    case .queue, .tooLong, .outage, .blocked, .mapping: break
    }
  }
}
