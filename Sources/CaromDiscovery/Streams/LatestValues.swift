import CaromTransport

/// The current value of a property, such as a TXT record, followed by each new value. A slow reader
/// skips to the newest value. Only one task at a time may iterate.
public struct LatestValues<Value: Sendable>: AsyncSequence, Sendable {
  /// A value of the property.
  public typealias Element = Value
  /// The reason why the value cannot be watched, or why no further values follow.
  public typealias Failure = DiscoveryError

  private let begin: @Sendable () -> CoalescingStream<Int, Value>.Reader

  init(_ begin: @escaping @Sendable () -> CoalescingStream<Int, Value>.Reader) {
    self.begin = begin
  }

  /// Returns a stream that replaces an unread value with a newer one.
  static func makeStream() -> CoalescingStream<Int, Value> { CoalescingStream { $1 } }

  /// Delivers one value after another.
  public struct Iterator: AsyncIteratorProtocol {
    var reader: CoalescingStream<Int, Value>.Reader

    /// Waits for the next value and returns it, or nil if the task is cancelled.
    public mutating func next() async throws(DiscoveryError) -> Value? {
      try await next(isolation: nil)
    }

    /// Waits for the next value and returns it, or nil if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DiscoveryError) -> Value? {
      try await reader.next(isolation: actor) { $0.popFirst() }
    }
  }

  /// Starts watching the value, and returns an iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: begin()) }
}
