/// Why a message was not taken.
public enum SendError: Error, Hashable, Sendable {
  /// The peer is not connected (any more, or not yet).
  case notConnected
  /// The message is over the session's limit, in bytes.
  case tooLarge(size: Int, limit: Int)
  /// So many bytes wait for this peer already that nothing more is taken; wait for `writable`.
  case queueFull(queued: Int)
  /// The message's lifetime passed before there was room for it.
  case expired
  /// The task was cancelled before there was room for the message.
  case cancelled
}
