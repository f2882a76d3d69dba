/// Counts of a socket's datagrams since it was opened.
public struct UDPCounters: Hashable, Sendable {
  /// Received datagrams.
  public var received: UInt64 = 0
  /// Payload bytes of the received datagrams.
  public var receivedBytes: UInt64 = 0
  /// Received datagrams that were longer than `largestDatagram`.
  public var truncated: UInt64 = 0
  /// Errors that the system reported in place of a datagram, such as ICMP messages.
  public var receiveErrors: UInt64 = 0
  /// Datagrams that the system accepted for sending.
  public var sent: UInt64 = 0
  /// Payload bytes of the sent datagrams.
  public var sentBytes: UInt64 = 0
  /// Datagrams that the system rejected.
  public var sendErrors: UInt64 = 0
  /// Datagrams that were dropped because the send queue was full.
  public var queueDrops: UInt64 = 0
  /// The number of times that sending paused because the system had no room.
  public var blocked: UInt64 = 0
}
