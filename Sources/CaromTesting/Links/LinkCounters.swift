/// The statistics of a link in one direction.
///
/// `sent + duplicated` equals `delivered + dropped.total` plus the number of datagrams in flight.
public struct LinkCounters: Hashable, Sendable {
  /// The number of datagrams sent over the link. A multicast datagram counts once for each machine
  /// to which it is sent.
  public internal(set) var sent = 0
  /// The number of bytes of the sent datagrams, including IP and UDP headers.
  public internal(set) var bytesSent = 0
  /// The number of datagrams delivered to at least one socket.
  public internal(set) var delivered = 0
  /// The number of bytes of the delivered datagrams, including IP and UDP headers.
  public internal(set) var bytesDelivered = 0
  /// The number of datagrams that were duplicated, even if a copy was lost afterwards.
  public internal(set) var duplicated = 0
  /// The number of datagrams that `Reordering` delayed.
  public internal(set) var reordered = 0
  /// The number of datagrams whose payload was corrupted.
  public internal(set) var corrupted = 0
  /// The number of datagrams dropped for each reason.
  public internal(set) var dropped = DropCounts()
  /// The maximum length that the link's queue has reached, in bytes.
  public internal(set) var longestQueue = 0
  /// The number of stream bytes sent over the link, including IP and TCP headers.
  public internal(set) var streamBytesSent = 0

  /// Creates counters that are all zero.
  public init() {}
}
