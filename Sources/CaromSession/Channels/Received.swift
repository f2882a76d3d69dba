/// A received message and its sender.
public struct Received<Message: Sendable>: Sendable {
  /// The peer that sent the message.
  public let peer: Peer
  /// The decoded message.
  public let message: Message
}
