/// What became of the datagrams of one link, one direction.
///
/// `sent + doubled` is `delivered`, `dropped.total` and what is still on its way.
public struct LinkCounters: Hashable, Sendable {
  /// Datagrams that came to the link; a multicast one once for each machine.
  public internal(set) var sent = 0
  /// Bytes of these with the headers of IP and UDP.
  public internal(set) var bytesSent = 0
  /// Datagrams that came out, to one socket or more.
  public internal(set) var delivered = 0
  /// Bytes of these with their headers.
  public internal(set) var bytesDelivered = 0
  /// Datagrams that came twice, or would have but for their loss.
  public internal(set) var doubled = 0
  /// Datagrams that `Reordering` held back.
  public internal(set) var reordered = 0
  /// Datagrams that were changed.
  public internal(set) var corrupted = 0
  /// Datagrams that did not come out.
  public internal(set) var dropped = DropCounts()
  /// The most bytes that waited in front of the link's rate.
  public internal(set) var longestQueue = 0
  /// Bytes of streams that came to the link, with the headers of IP and TCP.
  public internal(set) var streamBytesSent = 0

  /// Nothing yet.
  public init() {}
}
