import CaromTransport

/// The changes that a browser or a query reports, in batches, so that a list on a screen is drawn
/// once per batch. In all other respects the sequence behaves like `DiscoveryChanges`.
public struct DiscoveryBatches<Item>: AsyncSequence, Sendable
where Item: Identifiable & Hashable & Sendable, Item.ID: Sendable {
  /// All changes that are currently queued: at least one, and at most one per item.
  public typealias Element = [DiscoveryChange<Item>]
  /// The reason why watching cannot start or continue.
  public typealias Failure = DiscoveryError

  let source: ChangeSource<Item>

  /// Delivers one batch after another. Releasing the iterator stops the queries.
  public struct Iterator: AsyncIteratorProtocol {
    var reader: CoalescingStream<Item.ID, DiscoveryChange<Item>>.Reader

    /// Waits for the next batch and returns it, or nil if the task is cancelled.
    public mutating func next() async throws(DiscoveryError) -> Element? {
      try await next(isolation: nil)
    }

    /// Waits for the next batch and returns it, or nil if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DiscoveryError) -> Element? {
      try await reader.next(isolation: actor) { buffer in
        let batch = buffer.popAll()
        return batch.isEmpty ? nil : batch
      }
    }
  }

  /// Starts watching, and returns an iterator over the batches.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: source.begin()) }
}
