import CaromTransport

/// What a browser or a query tells, one change after the other, from the first moment that it is
/// read; leaving the loop stops the questions.
///
/// Each reader has a watching of its own. A reader that is slower than the network sees the
/// newest state of each item: changes that it has not read yet become one, and what came and went
/// meanwhile is not mentioned. So at most one change an item waits, and nothing is lost.
public struct DiscoveryChanges<Item>: AsyncSequence, Sendable
where Item: Identifiable & Hashable & Sendable, Item.ID: Sendable {
  /// Something came, changed or went.
  public typealias Element = DiscoveryChange<Item>
  /// Why watching cannot begin, or go on.
  public typealias Failure = DiscoveryError

  let source: Watch<Item>

  /// Reads one change after the other; dropping it stops the questions.
  public struct Iterator: AsyncIteratorProtocol {
    var reader: Feed<Item.ID, Element>.Reader

    /// The next change; `nil` when the task is cancelled.
    public mutating func next() async throws(DiscoveryError) -> Element? {
      try await next(isolation: nil)
    }

    /// The next change; `nil` when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DiscoveryError) -> Element? {
      try await reader.next(isolation: actor) { $0.popFirst() }
    }
  }

  /// Begins to watch.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: source.begin()) }
}

/// What browsing for services has to tell.
public typealias ServiceChanges = DiscoveryChanges<DiscoveredService>
