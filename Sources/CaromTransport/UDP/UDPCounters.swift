/// The counters of a socket's datagrams since the socket was opened.
public struct UDPCounters: Hashable, Sendable {
  /// The number of received datagrams.
  public var received: UInt64 = 0
  /// The number of payload bytes in the received datagrams.
  public var receivedBytes: UInt64 = 0
  /// The number of received datagrams that were longer than `largestDatagram`.
  public var truncated: UInt64 = 0
  /// The number of errors that the system reported in place of a datagram, such as ICMP messages.
  public var receiveErrors: UInt64 = 0
  /// The number of datagrams that the system accepted for sending.
  public var sent: UInt64 = 0
  /// The number of payload bytes in the sent datagrams.
  public var sentBytes: UInt64 = 0
  /// The number of datagrams that the system rejected.
  public var sendErrors: UInt64 = 0
  /// The number of datagrams that were dropped because the send queue was full.
  public var queueDrops: UInt64 = 0
  /// The number of times that sending paused because the socket's send buffer in the kernel had no
  /// room.
  public var blocked: UInt64 = 0
}
