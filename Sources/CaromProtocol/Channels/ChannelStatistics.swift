/// What a `ChannelSet` counts.
package struct ChannelStatistics: Hashable, Sendable {
  package var messagesSent: UInt64 = 0
  package var messagesReceived: UInt64 = 0
  /// Frames of reliable messages that left again because a packet was lost.
  package var resent: UInt64 = 0
  /// Frames that left again before anything was known of the first.
  package var ridden: UInt64 = 0
  /// Messages whose deadline passed before they left.
  package var expired: UInt64 = 0
  /// Stale messages that a newer one replaced before they left.
  package var replaced: UInt64 = 0
  /// Unreliable messages that were dropped because too much waited to leave.
  package var overflowed: UInt64 = 0
  /// Messages that came twice, or after a newer one where only the newest counts.
  package var stale: UInt64 = 0
  /// Unreliable messages that came in part, or for which the owner left no room.
  package var incomplete: UInt64 = 0
  /// Events that the owner left no room for.
  package var eventsDropped: UInt64 = 0

  package init() {}
}
