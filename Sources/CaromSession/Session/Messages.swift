import CaromCore
import CaromProtocol

/// The messages of one channel, from everybody, for one reader at a time.
///
/// A reader that falls behind on a reliable channel slows its senders down, and nothing is lost;
/// on another the oldest messages are dropped, and of the sequenced ones those that a newer one of
/// the same peer has made stale.
public struct Messages<Message: PacketCodable>: AsyncSequence, Sendable {
  /// A message and who sent it.
  public typealias Element = Received<Message>

  let inbox: Inbox<Received<Message>>

  /// Reads the messages.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let inbox: Inbox<Received<Message>>

    /// The next message; `nil` when the session has ended or the task was cancelled.
    public mutating func next() async -> Received<Message>? { await inbox.next() }
  }

  /// Reads the messages.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(inbox: inbox) }
}

/// The newest message of a peer on one channel.
public struct LatestMessage<Message: PacketCodable>: Sendable {
  let peer: Peer
  let inbox: Inbox<Received<Message>>

  /// The newest message since the last time; `nil` when none has come.
  public func take() -> Message? {
    var newest: Message?
    while let received = inbox.take() {
      if received.peer == peer { newest = received.message }
    }
    return newest
  }
}
