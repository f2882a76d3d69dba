import CaromTransport

/// The changes that a browser or a query reports, one at a time. Queries start when iteration
/// starts; leaving the `for` loop stops them.
///
/// Each iterator starts its own watch. For a reader that is slower than the network, unread changes
/// to the same item are merged into one, and an item that is added and removed again before it is
/// read is not reported. So at most one change per item is queued, and the reader always ends up
/// with the current state.
public struct DiscoveryChanges<Item>: AsyncSequence, Sendable
where Item: Identifiable & Hashable & Sendable, Item.ID: Sendable {
  /// A change: an item was added, updated or removed.
  public typealias Element = DiscoveryChange<Item>
  /// The reason why watching cannot start or continue.
  public typealias Failure = DiscoveryError

  let source: ChangeSource<Item>

  /// Delivers one change after another. Releasing the iterator stops the queries.
  public struct Iterator: AsyncIteratorProtocol {
    var reader: CoalescingStream<Item.ID, Element>.Reader

    /// Waits for the next change and returns it, or nil if the task is cancelled.
    public mutating func next() async throws(DiscoveryError) -> Element? {
      try await next(isolation: nil)
    }

    /// Waits for the next change and returns it, or nil if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DiscoveryError) -> Element? {
      try await reader.next(isolation: actor) { $0.popFirst() }
    }
  }

  /// Starts watching, and returns an iterator over the changes.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: source.begin()) }
}

/// The changes that a `ServiceBrowser` reports.
public typealias ServiceChanges = DiscoveryChanges<DiscoveredService>
