/// What happens to the peers of a session, from the beginning on; for one reader at a time.
///
/// Of more than 4,096 events that nobody has read the oldest are dropped.
public struct PeerEvents: AsyncSequence, Sendable {
  static let limit = 4096

  /// An event.
  public typealias Element = PeerEvent

  let inbox: Inbox<PeerEvent>

  /// Reads the events.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let inbox: Inbox<PeerEvent>

    /// The next event; `nil` when the session has ended or the task was cancelled.
    public mutating func next() async -> PeerEvent? { await inbox.next() }
  }

  /// Reads the events.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(inbox: inbox) }
}
