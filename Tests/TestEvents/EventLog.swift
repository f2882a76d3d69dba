import Synchronization

/// Events that delegate calls report and a test waits for.
package final class EventLog<Event: Sendable>: Sendable {
  private let stream: AsyncStream<Event>
  private let input: AsyncStream<Event>.Continuation
  private let all = Mutex<[Event]>([])

  /// Creates an empty log.
  package init() { (stream, input) = AsyncStream.makeStream(of: Event.self) }

  /// Adds an event. Can be called from any thread.
  package func add(_ event: Event) {
    all.withLock { $0.append(event) }
    input.yield(event)
  }

  /// Everything that was reported so far.
  package var events: [Event] { all.withLock { $0 } }

  /// Waits for the next event that `transform` does not return nil for.
  package func next<Result>(_ transform: (Event) -> Result?) async -> Result? {
    for await event in stream {
      if let result = transform(event) { return result }
    }
    return nil
  }

  /// Waits for the next event that `isWanted` accepts.
  package func wait(for isWanted: (Event) -> Bool) async {
    _ = await next { isWanted($0) ? true : nil }
  }
}
