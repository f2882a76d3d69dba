/// What became of everything that was sent through a `VirtualNetwork`.
public struct NetworkCounters: Hashable, Sendable {
  /// Datagrams sent, a multicast one once.
  public var datagramsSent = 0
  /// Of these, how many were multicast.
  public var multicastsSent = 0
  /// Bytes of all datagrams sent.
  public var datagramBytesSent = 0
  /// Datagrams that came to a socket; one multicast may come to many.
  public var datagramsDelivered = 0
  /// Datagrams that chance took.
  public var datagramsLost = 0
  /// Datagrams that came twice.
  public var datagramsDoubled = 0
  /// Datagrams that a cut or a crash took.
  public var datagramsCut = 0
  /// Datagrams that nobody has an open socket for.
  public var datagramsUnclaimed = 0
  /// All datagrams that did not come out, by reason.
  public internal(set) var dropped = DropCounts()
  /// Bytes that came out of streams.
  public var streamBytesDelivered = 0

  /// Nothing yet.
  public init() {}

  mutating func noteDrop(for reason: DropReason) {
    dropped[reason] += 1
    switch reason {
    case .loss, .burst: datagramsLost += 1
    case .cut, .crash: datagramsCut += 1
    case .unreachable, .unclaimed: datagramsUnclaimed += 1
    case .queue, .tooLong, .blackout, .blocked, .mapping: break
    }
  }
}
