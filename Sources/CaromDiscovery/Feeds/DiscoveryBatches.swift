import CaromTransport

/// What a browser or a query tells, all that is known at a time: lists on a screen are drawn once
/// a batch. Otherwise like `DiscoveryChanges`.
public struct DiscoveryBatches<Item>: AsyncSequence, Sendable
where Item: Identifiable & Hashable & Sendable, Item.ID: Sendable {
  /// One or more changes, one an item at most; no more are coming at the moment.
  public typealias Element = [DiscoveryChange<Item>]
  /// Why watching cannot begin, or go on.
  public typealias Failure = DiscoveryError

  let source: Watch<Item>

  /// Reads one batch after the other; dropping it stops the questions.
  public struct Iterator: AsyncIteratorProtocol {
    var reader: Feed<Item.ID, DiscoveryChange<Item>>.Reader

    /// The next batch; `nil` when the task is cancelled.
    public mutating func next() async throws(DiscoveryError) -> Element? {
      try await next(isolation: nil)
    }

    /// The next batch; `nil` when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DiscoveryError) -> Element? {
      try await reader.next(isolation: actor) { backlog in
        let batch = backlog.popAll()
        return batch.isEmpty ? nil : batch
      }
    }
  }

  /// Begins to watch.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: source.begin()) }
}
