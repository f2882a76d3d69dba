import CaromTransport

/// A value that changes while it is watched: told at the beginning and whenever it is another.
/// A reader that is slower sees the newest value; older ones are skipped. For one reader.
public struct Latest<Value: Sendable>: AsyncSequence, Sendable {
  /// The value as it is now.
  public typealias Element = Value
  /// Why it cannot be watched, or will not change any more.
  public typealias Failure = DiscoveryError

  private let begin: @Sendable () -> Feed<Int, Value>.Reader

  init(_ begin: @escaping @Sendable () -> Feed<Int, Value>.Reader) { self.begin = begin }

  /// A feed whose newest event counts.
  static func makeFeed() -> Feed<Int, Value> { Feed { $1 } }

  /// Reads one value after the other.
  public struct Iterator: AsyncIteratorProtocol {
    var reader: Feed<Int, Value>.Reader

    /// The next value; `nil` when the task is cancelled.
    public mutating func next() async throws(DiscoveryError) -> Value? {
      try await next(isolation: nil)
    }

    /// The next value; `nil` when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DiscoveryError) -> Value? {
      try await reader.next(isolation: actor) { $0.popFirst() }
    }
  }

  /// A reader; one at a time.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: begin()) }
}
