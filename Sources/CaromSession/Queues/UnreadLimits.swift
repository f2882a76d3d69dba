/// The limits on the messages that wait for their readers in a session.
enum UnreadLimits {
  /// The maximum number of unread messages of one channel.
  static let messages = 1024
  /// The maximum number of bytes of unread messages of one channel. Only the last message may
  /// exceed the limit.
  static let bytes = 256 << 10
  /// The maximum number of unreliable messages that are kept for channels that have no reader yet.
  /// Reliable messages of such channels stay in their connections.
  static let earlyMessages = 256
  /// The maximum number of bytes of unreliable messages that are kept for channels that have no
  /// reader yet.
  static let earlyBytes = 64 << 10
  /// The maximum number of requests of one exchange that wait for an answer. Beyond this number,
  /// requests are refused as busy.
  static let requests = 256
}
