/// The counters of a `ChannelSet`.
package struct ChannelStatistics: Hashable, Sendable {
  package var messagesSent: UInt64 = 0
  package var messagesReceived: UInt64 = 0
  /// Frames of reliable messages that were sent again because a packet was lost.
  package var resent: UInt64 = 0
  /// Frames that were sent redundantly, before their message was known to be acknowledged or lost.
  package var redundant: UInt64 = 0
  /// Messages dropped because their deadline passed before any of them was sent.
  package var expired: UInt64 = 0
  /// The number of sequenced messages that were replaced by newer messages before they were sent.
  package var replaced: UInt64 = 0
  /// Unreliable messages dropped because too many were queued.
  package var overflowed: UInt64 = 0
  /// Received messages that were duplicates, or sequenced and older than another one.
  package var stale: UInt64 = 0
  /// Unreliable or sequenced messages that were received only in part, or dropped because the owner
  /// had too many unread ones.
  package var incomplete: UInt64 = 0
  /// Events dropped because the owner had too many unread ones.
  package var eventsDropped: UInt64 = 0

  package init() {}
}

/// The messages and bytes that one channel has carried.
package struct ChannelTraffic: Hashable, Sendable, BitwiseCopyable {
  package var messagesSent: UInt64 = 0
  /// The number of bytes of the messages sent, each counted once however often it was transmitted.
  package var bytesSent: UInt64 = 0
  package var messagesReceived: UInt64 = 0
  package var bytesReceived: UInt64 = 0

  package init() {}
}
