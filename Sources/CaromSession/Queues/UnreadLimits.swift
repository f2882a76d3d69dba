/// The limits on the messages that wait for their readers in a session.
enum UnreadLimits {
  /// The maximum number of unread messages of one channel.
  static let messages = 1024
  /// The number of bytes of unread messages at which a channel is full. The message that reaches
  /// this number may exceed it.
  static let bytes = 256 << 10
  /// The maximum number of unreliable messages that each loop of a session keeps for all channels
  /// together that have no reader yet. At this limit, the oldest message is dropped. Reliable
  /// messages of such channels stay in their connections.
  static let earlyMessages = 256
  /// The maximum total length, in bytes, of the messages that `earlyMessages` limits.
  static let earlyBytes = 64 << 10
  /// The maximum number of requests of one exchange that wait for an answer. Beyond this number,
  /// requests are refused as busy.
  static let requests = 256
}
