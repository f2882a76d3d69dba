/// Events of a session's peers, from the start of the session; for one reader at a time.
///
/// At most 4,096 unread events are kept; after that the oldest are dropped.
public struct PeerEvents: AsyncSequence, Sendable {
  static let limit = 4096

  /// One event.
  public typealias Element = PeerEvent

  let inbox: Inbox<PeerEvent>

  /// An iterator over the events.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let inbox: Inbox<PeerEvent>

    /// Waits for the next event. Returns nil when the session has ended or the task was cancelled.
    public mutating func next() async -> PeerEvent? { await inbox.next() }
  }

  /// Creates an iterator over the events.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(inbox: inbox) }
}
