/// The counters of a `ChannelSet`.
package struct ChannelStatistics: Hashable, Sendable {
  package var messagesSent: UInt64 = 0
  package var messagesReceived: UInt64 = 0
  /// The number of frames of reliable messages that were retransmitted because a packet was lost.
  package var resent: UInt64 = 0
  /// The number of redundant frames: copies sent before the original was acknowledged or declared
  /// lost.
  package var redundant: UInt64 = 0
  /// The number of messages that were dropped because their deadline passed before any part of them
  /// was sent.
  package var expired: UInt64 = 0
  /// The number of sequenced messages that were replaced by newer messages before they were sent.
  package var replaced: UInt64 = 0
  /// The number of unreliable messages that were dropped because too many were queued.
  package var overflowed: UInt64 = 0
  /// The number of received messages that were discarded because they were duplicates or, on a
  /// sequenced channel, because a newer message had already been received.
  package var stale: UInt64 = 0
  /// The number of unreliable or sequenced messages that were received only in part, or dropped
  /// because the application had too many unread messages.
  package var incomplete: UInt64 = 0
  /// The number of events that were dropped because the application had too many unread events.
  package var eventsDropped: UInt64 = 0

  package init() {}
}

/// The counters of the messages and bytes that one channel has carried.
package struct ChannelTraffic: Hashable, Sendable, BitwiseCopyable {
  package var messagesSent: UInt64 = 0
  /// The total length of the messages sent, in bytes. Each message counts once, no matter how many
  /// times it was transmitted.
  package var bytesSent: UInt64 = 0
  package var messagesReceived: UInt64 = 0
  package var bytesReceived: UInt64 = 0

  package init() {}
}
