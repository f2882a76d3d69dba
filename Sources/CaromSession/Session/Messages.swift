import CaromCore
import CaromProtocol

/// A received message and its sender.
public struct Received<Message: Sendable>: Sendable {
  /// The peer that sent the message.
  public let peer: Peer
  /// The decoded message.
  public let message: Message
  /// The time at which the message arrived, on the clock of the peer's loop. For a message that
  /// waited because its channel had no reader or a full inbox, the time at which it could be read.
  public let arrival: Instant
}

/// The messages from all peers on one channel, for one reader at a time.
///
/// A reader that falls behind on a reliable channel slows down its senders, and no message is lost.
/// On other channels the oldest unread messages are dropped. On sequenced channels, these are the
/// messages that a newer message from the same peer has made stale.
public struct Messages<Message: Sendable>: AsyncSequence, Sendable {
  /// A message and its sender.
  public typealias Element = Received<Message>

  let inbox: Inbox<Received<Message>>

  /// An iterator over the messages.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let inbox: Inbox<Received<Message>>

    /// Waits for the next message. Returns nil when the session has ended, when a client's
    /// connection to its host has ended and all messages have been read, or when the task is
    /// cancelled.
    public mutating func next() async -> Received<Message>? { await inbox.next() }
  }

  /// Creates an iterator over the messages.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(inbox: inbox) }
}

/// A view of the newest message from one peer on one channel.
///
/// There can be one reader for each peer. Taking a message from one view does not affect the views
/// of other peers on the channel.
public struct LatestMessage<Message: Sendable>: Sendable {
  let peer: Peer
  let inbox: Inbox<Received<Message>>

  /// Removes and returns the newest message that has arrived since the previous call, or nil if
  /// there is none.
  public func take() -> Message? {
    // The last messages of peers that have left may never be taken, so they are not kept.
    let connected = peer.hub.inboxes.connected
    let newest = inbox.popNewest(
      with: peer, by: \.peer, keeping: { connected.contains($0.peer.connectionID) })
    return newest?.message
  }
}
