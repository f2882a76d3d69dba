import CaromCore

/// What is known of the way to a peer, and what went over it so far.
public struct PeerStatistics: Hashable, Sendable {
  /// What carries messages now; `nil` while nothing does.
  public package(set) var link: LinkKind?
  /// The round trip, smoothed; `nil` before the first sample.
  public package(set) var roundTrip: Duration?
  /// The newest sample of it.
  public package(set) var latestRoundTrip: Duration?
  /// The least of it of late: what is above that was spent in queues.
  public package(set) var leastRoundTrip: Duration?
  /// How much the round trip varies (RFC 9002 §5.3); `nil` where nothing goes by datagrams.
  public package(set) var variation: Duration?
  /// The peer's clock minus this one's; `nil` before the first sample.
  public package(set) var clockOffset: Duration?
  /// The share of datagrams that was lost of late, 0 to 1.
  public package(set) var lossRate = 0.0
  /// Datagrams that were sent.
  public package(set) var packetsSent: UInt64 = 0
  /// Datagrams that the peer said it has.
  public package(set) var packetsAcknowledged: UInt64 = 0
  /// Datagrams that were given up.
  public package(set) var packetsLost: UInt64 = 0
  /// Bytes of datagrams that were sent, headers of IP and UDP included.
  public package(set) var bytesSent: UInt64 = 0
  /// Bytes of datagrams that the peer said it has.
  public package(set) var bytesAcknowledged: UInt64 = 0
  /// Bytes a second that the way delivers at most, as far as was seen; 0 where nothing is known.
  public package(set) var bandwidth = 0.0
  /// The longest datagram that surely passes, bytes; 0 where nothing goes by datagrams.
  public package(set) var packetSize = 0
  /// Bytes of reliable messages that wait or are not acknowledged.
  public package(set) var bytesQueued = 0
  /// Messages that were sent, and that came.
  public package(set) var messagesSent: UInt64 = 0
  /// Messages that came.
  public package(set) var messagesReceived: UInt64 = 0
  /// Reliable messages, or pieces of them, that left again because a packet was lost.
  public package(set) var resent: UInt64 = 0
  /// Messages that left twice at once, since packets are being lost.
  public package(set) var redundant: UInt64 = 0
  /// Messages whose lifetime passed before they left.
  public package(set) var expired: UInt64 = 0
  /// Stale messages that a newer one replaced before they left.
  public package(set) var replaced: UInt64 = 0
  /// Unreliable messages that were dropped because too much waited to leave.
  public package(set) var dropped: UInt64 = 0
  /// Messages that came twice, or after a newer one where only the newest counts.
  public package(set) var stale: UInt64 = 0
  /// The channels that were used, by number.
  public package(set) var channels: [Traffic] = []

  /// What went over one channel.
  public struct Traffic: Hashable, Sendable {
    /// The channel's number.
    public package(set) var channel: UInt8
    /// Messages that were sent.
    public package(set) var messagesSent: UInt64 = 0
    /// Their bytes.
    public package(set) var bytesSent: UInt64 = 0
    /// Messages that came.
    public package(set) var messagesReceived: UInt64 = 0
    /// Their bytes.
    public package(set) var bytesReceived: UInt64 = 0
    /// Messages that have not left yet, or are not acknowledged where they are reliable.
    public package(set) var messagesQueued = 0
  }
}
