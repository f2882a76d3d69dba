/// The events of a session's peers since the start of the session, for one reader at a time.
///
/// At most 4,096 unread events are kept. Beyond this number, the oldest events are dropped, and
/// a `missed` event takes their place.
public struct PeerEvents: AsyncSequence, Sendable {
  static let limit = 4096

  /// An event of one peer.
  public typealias Element = PeerEvent

  let inbox: Inbox<PeerEvent>

  /// An iterator over the events.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let inbox: Inbox<PeerEvent>

    /// Waits for the next event. Returns nil when the session has ended, when a client's connection
    /// to its host has ended, or when the task is cancelled.
    public mutating func next() async -> PeerEvent? { await inbox.next() }
  }

  /// Creates an iterator over the events.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(inbox: inbox) }
}
