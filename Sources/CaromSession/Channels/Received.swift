/// A message and who sent it.
public struct Received<Message: Sendable>: Sendable {
  /// Who sent it.
  public let peer: Peer
  /// What it says.
  public let message: Message
}
