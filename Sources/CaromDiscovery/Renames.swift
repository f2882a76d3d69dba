/// The names that an advertised service takes after its first.
public struct Renames: AsyncSequence, Sendable {
  /// The name that it has now.
  public typealias Element = String
  /// `nameTaken` where no name is left.
  public typealias Failure = DiscoveryError

  let names: AsyncStream<Result<String, DiscoveryError>>

  /// Reads one name after the other.
  public struct Iterator: AsyncIteratorProtocol {
    var names: AsyncStream<Result<String, DiscoveryError>>.Iterator

    /// The next name; `nil` when the task is cancelled.
    public mutating func next() async throws(DiscoveryError) -> String? {
      try await next(isolation: nil)
    }

    /// The next name; `nil` when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DiscoveryError) -> String? {
      try await names.next(isolation: actor)?.get()
    }
  }

  /// A reader; one at a time.
  public func makeAsyncIterator() -> Iterator { Iterator(names: names.makeAsyncIterator()) }
}
