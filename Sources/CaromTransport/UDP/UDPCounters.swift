/// What happened to a socket's datagrams, counted since it was opened.
public struct UDPCounters: Hashable, Sendable {
  /// Datagrams that arrived.
  public var received: UInt64 = 0
  /// Their bytes.
  public var receivedBytes: UInt64 = 0
  /// Datagrams that arrived longer than `largestDatagram`.
  public var truncated: UInt64 = 0
  /// Errors that the system reported instead of a datagram, such as ICMP messages.
  public var receiveErrors: UInt64 = 0
  /// Datagrams that the system took.
  public var sent: UInt64 = 0
  /// Their bytes.
  public var sentBytes: UInt64 = 0
  /// Datagrams that the system refused.
  public var sendErrors: UInt64 = 0
  /// Datagrams dropped since the queue was full.
  public var queueDrops: UInt64 = 0
  /// How often the system had no room, so that the queue waited.
  public var blocked: UInt64 = 0
}
