/// The reasons why a message cannot be sent.
public enum SendError: Error, Hashable, Sendable {
  /// The peer is not connected yet, or its connection has ended.
  case notConnected
  /// The message is longer than its channel's delivery allows, or it is a text of more than
  /// `String.maximumEncodedLength` bytes. `size` and `limit` are in bytes.
  case tooLarge(size: Int, limit: Int)
  /// The send queue to this peer is full and holds `queued` bytes. Try again after the `writable`
  /// event.
  case queueFull(queued: Int)
  /// The message's lifetime passed while it was waiting for space in the send queue.
  case expired
  /// The task was cancelled while the message was waiting for space in the send queue.
  case cancelled
  /// The message could not be encoded. The string describes the error that the message's
  /// `encode(to:)` threw.
  case notEncodable(String)
}

extension SendError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .notConnected: "the peer is not connected"
    case .tooLarge(let size, let limit):
      "the message has \(size) bytes, and one of its kind has at most \(limit): split it"
    case .queueFull(let queued):
      "the send queue to the peer is full (\(queued) bytes): wait for room, or send less"
    case .expired: "the message's lifetime passed before there was room for it"
    case .cancelled: "the task was cancelled"
    case .notEncodable(let error): "the message cannot be encoded: \(error)"
    }
  }
}
