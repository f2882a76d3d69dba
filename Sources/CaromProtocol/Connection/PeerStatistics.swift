import CaromCore

/// The measurements of the connection to one peer, and its counters since the connection was
/// opened.
public struct PeerStatistics: Hashable, Sendable {
  /// The link that carries messages now; `nil` while no link does.
  public package(set) var link: LinkKind?
  /// How the link that was opened last is protected: the policy, the handshake and the cipher.
  public package(set) var protection = LinkProtection.none
  /// The smoothed round-trip time; `nil` before the first sample.
  public package(set) var roundTrip: Duration?
  /// The newest sample of the round-trip time; `nil` before the first.
  public package(set) var latestRoundTrip: Duration?
  /// The lowest recent round-trip time; `nil` if the connection has no datagram path. Any
  /// additional round-trip time is mostly due to queues.
  public package(set) var leastRoundTrip: Duration?
  /// The variation of the round-trip time (RFC 9002 §5.3); `nil` if the connection has no datagram
  /// path.
  public package(set) var variation: Duration?
  /// The peer's clock minus the local clock; `nil` before the first sample.
  public package(set) var clockOffset: Duration?
  /// The fraction of recent datagrams that were lost, from 0 to 1.
  public package(set) var lossRate = 0.0
  /// The number of datagrams sent.
  public package(set) var packetsSent: UInt64 = 0
  /// The number of datagrams that the peer has acknowledged.
  public package(set) var packetsAcknowledged: UInt64 = 0
  /// The number of datagrams declared lost.
  public package(set) var packetsLost: UInt64 = 0
  /// The total length of the datagrams sent, in bytes, including IP and UDP headers.
  public package(set) var bytesSent: UInt64 = 0
  /// The total length of the datagrams that the peer has acknowledged, in bytes, including IP and
  /// UDP headers.
  public package(set) var bytesAcknowledged: UInt64 = 0
  /// The estimated bandwidth of the path, in bytes per second; 0 while unknown.
  public package(set) var bandwidth = 0.0
  /// The size of the largest datagram known to reach the peer, in bytes of UDP payload; 0 if the
  /// connection has no datagram path.
  public package(set) var packetSize = 0
  /// The number of bytes of reliable messages that are queued or unacknowledged. Each message
  /// counts as 64 bytes more than its length.
  public package(set) var bytesQueued = 0
  /// The number of messages sent.
  public package(set) var messagesSent: UInt64 = 0
  /// The number of messages received.
  public package(set) var messagesReceived: UInt64 = 0
  /// The number of reliable messages, or fragments of them, that were sent again because a packet
  /// was lost.
  public package(set) var resent: UInt64 = 0
  /// The number of redundant copies of small reliable messages, sent before a loss was detected.
  public package(set) var redundant: UInt64 = 0
  /// The number of messages that were dropped because their lifetime passed before they were sent.
  public package(set) var expired: UInt64 = 0
  /// The number of sequenced messages that were replaced by newer messages before they were sent.
  public package(set) var replaced: UInt64 = 0
  /// The number of unreliable messages that were dropped because too many were queued.
  public package(set) var dropped: UInt64 = 0
  /// The number of received messages that were discarded as duplicates, or as older than another
  /// message already received on a sequenced channel.
  public package(set) var stale: UInt64 = 0
  /// The traffic of every channel used so far, ordered by channel number.
  public package(set) var channels: [Traffic] = []

  /// The traffic of one channel.
  public struct Traffic: Hashable, Sendable {
    /// The number of the channel to which the counters apply.
    public package(set) var channel: UInt8
    /// The number of messages sent.
    public package(set) var messagesSent: UInt64 = 0
    /// The total length of the messages sent, in bytes. Each message counts once.
    public package(set) var bytesSent: UInt64 = 0
    /// The number of messages received.
    public package(set) var messagesReceived: UInt64 = 0
    /// The total length of the messages received, in bytes.
    public package(set) var bytesReceived: UInt64 = 0
    /// The number of messages that are queued or, if reliable, unacknowledged.
    public package(set) var messagesQueued = 0
  }
}
