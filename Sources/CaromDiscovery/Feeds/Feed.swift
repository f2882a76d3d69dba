import CaromTransport
import Synchronization

/// The way from a loop to one reader elsewhere: a backlog, and a signal that something is in it.
final class Feed<Subject: Hashable & Sendable, Event: Sendable>: Sendable {
  private struct State: Sendable {
    var backlog = Backlog<Subject, Event>()
    var failure: DiscoveryError?
    /// Whether the reader will be woken.
    var isSignalled = false
  }

  private let state = Mutex(State())
  private let merge: @Sendable (Event, Event) -> Event?
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation

  init(merging merge: @escaping @Sendable (Event, Event) -> Event?) {
    self.merge = merge
    (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// How many events wait.
  var count: Int { state.withLock { $0.backlog.count } }

  /// Adds an event. The reader is woken when the loop has done all that it is doing, so that it
  /// finds everything that belongs together; at once where there is no loop.
  func send(_ event: Event, about subject: Subject, on loop: NetworkLoop? = nil) {
    let isFirst = state.withLock { state in
      state.backlog.add(event, about: subject, merge)
      defer { state.isSignalled = true }
      return !state.isSignalled
    }
    guard isFirst else { return }
    if let loop { loop.post { [weak self] in self?.wake() } } else { wake() }
  }

  private func wake() {
    state.withLock { $0.isSignalled = false }
    signal.yield()
  }

  /// Nothing comes any more; the reader is told why once it has read what there is.
  func finish(throwing error: DiscoveryError?) {
    state.withLock { $0.failure = $0.failure ?? error }
    signal.finish()
  }

  /// Called when nobody can read any more, and when the feed has finished.
  func onTermination(_ body: @escaping @Sendable () -> Void) {
    signal.onTermination = { _ in body() }
  }

  /// Reads the feed; one at a time.
  struct Reader {
    private let feed: Feed
    private var signals: AsyncStream<Void>.Iterator

    init(_ feed: Feed) {
      self.feed = feed
      signals = feed.signals.makeAsyncIterator()
    }

    /// What `take` finds, as soon as that is something; `nil` at the end, and when the task is
    /// cancelled.
    mutating func next<Value: Sendable>(
      isolation actor: isolated (any Actor)?,
      _ take: (inout Backlog<Subject, Event>) -> Value?
    ) async throws(DiscoveryError) -> Value? {
      var isOver = false
      while true {
        if let value = feed.take(take) { return value }
        if isOver {
          if let failure = feed.takeFailure() { throw failure }
          return nil
        }
        isOver = await signals.next(isolation: actor) == nil
      }
    }
  }

  private func take<Value: Sendable>(
    _ take: (inout Backlog<Subject, Event>) -> Value?
  ) -> Value? {
    state.withLock { take(&$0.backlog) }
  }

  private func takeFailure() -> DiscoveryError? { state.withLock { $0.failure.take() } }
}

// MARK: - Beginning

extension Feed {
  /// Ends what feeds it.
  typealias Stop = @Sendable () async -> Void
  typealias Send = @Sendable (Event, Subject, NetworkLoop) -> Void
  typealias Finish = @Sendable (DiscoveryError) -> Void

  /// Has `start` begin what feeds `feed`, elsewhere, and gives the reader whose end stops it.
  static func read(
    _ feed: Feed,
    _ start:
      @escaping @Sendable (@escaping Send, @escaping Finish)
      async throws(DiscoveryError) -> Stop
  ) -> Reader {
    let task = Task { [weak feed] () -> Stop? in
      do throws(DiscoveryError) {
        return try await start({ [weak feed] in feed?.send($0, about: $1, on: $2) }) {
          [weak feed] in feed?.finish(throwing: $0)
        }
      } catch {
        feed?.finish(throwing: error)
        return nil
      }
    }
    feed.onTermination {
      Task { await task.value?() }
    }
    return Reader(feed)
  }
}
