import CaromCore

/// Measurements of the connection to one peer, and counters since it was opened.
public struct PeerStatistics: Hashable, Sendable {
  /// The link that carries messages now; `nil` while no link does.
  public package(set) var link: LinkKind?
  /// The smoothed round-trip time; `nil` before the first sample.
  public package(set) var roundTrip: Duration?
  /// The newest sample of the round-trip time; `nil` before the first.
  public package(set) var latestRoundTrip: Duration?
  /// The lowest recent round-trip time. Any time above it is spent in queues.
  public package(set) var leastRoundTrip: Duration?
  /// The variation of the round-trip time (RFC 9002 §5.3); `nil` without datagrams.
  public package(set) var variation: Duration?
  /// The peer's clock minus the local clock; `nil` before the first sample.
  public package(set) var clockOffset: Duration?
  /// The share of datagrams recently lost, from 0 to 1.
  public package(set) var lossRate = 0.0
  /// The number of datagrams sent.
  public package(set) var packetsSent: UInt64 = 0
  /// The number of datagrams that the peer has acknowledged.
  public package(set) var packetsAcknowledged: UInt64 = 0
  /// The number of datagrams declared lost.
  public package(set) var packetsLost: UInt64 = 0
  /// The number of bytes of the datagrams sent, including IP and UDP headers.
  public package(set) var bytesSent: UInt64 = 0
  /// The number of bytes of the datagrams that the peer has acknowledged, including IP and UDP
  /// headers.
  public package(set) var bytesAcknowledged: UInt64 = 0
  /// The estimated bandwidth of the path, in bytes per second; 0 while unknown.
  public package(set) var bandwidth = 0.0
  /// The longest datagram known to pass the path, in bytes; 0 without datagrams.
  public package(set) var packetSize = 0
  /// The number of bytes of reliable messages that are queued or unacknowledged.
  public package(set) var bytesQueued = 0
  /// The number of messages sent.
  public package(set) var messagesSent: UInt64 = 0
  /// The number of messages received.
  public package(set) var messagesReceived: UInt64 = 0
  /// Reliable messages, or fragments of them, sent again because a packet was lost.
  public package(set) var resent: UInt64 = 0
  /// Redundant copies of small reliable messages, sent before a loss was detected.
  public package(set) var redundant: UInt64 = 0
  /// Messages dropped because their lifetime passed before they were sent.
  public package(set) var expired: UInt64 = 0
  /// The number of sequenced messages that were replaced by newer messages before they were sent.
  public package(set) var replaced: UInt64 = 0
  /// Unreliable messages dropped because too many were queued.
  public package(set) var dropped: UInt64 = 0
  /// Received messages that were duplicates, or sequenced and older than another one.
  public package(set) var stale: UInt64 = 0
  /// The traffic of every channel used so far, ordered by channel number.
  public package(set) var channels: [Traffic] = []

  /// The traffic of one channel.
  public struct Traffic: Hashable, Sendable {
    /// The channel's number.
    public package(set) var channel: UInt8
    /// The number of messages sent.
    public package(set) var messagesSent: UInt64 = 0
    /// The number of bytes of the messages sent, each counted once.
    public package(set) var bytesSent: UInt64 = 0
    /// The number of messages received.
    public package(set) var messagesReceived: UInt64 = 0
    /// The number of bytes of the messages received.
    public package(set) var bytesReceived: UInt64 = 0
    /// The number of messages that are queued or, if reliable, unacknowledged.
    public package(set) var messagesQueued = 0
  }
}
