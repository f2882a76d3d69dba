/// What one channel has carried.
package struct ChannelTraffic: Hashable, Sendable, BitwiseCopyable {
  package var messagesSent: UInt64 = 0
  /// Bytes of the messages, however often they left.
  package var bytesSent: UInt64 = 0
  package var messagesReceived: UInt64 = 0
  package var bytesReceived: UInt64 = 0

  package init() {}
}
