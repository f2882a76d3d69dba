import CaromTransport

/// An async stream from a loop to one reader on another executor. Unread events about the same
/// subject are merged, so that at most one event per subject is queued.
final class CoalescingStream<Subject: Hashable & Sendable, Event: Sendable>: Sendable {
  private struct State: Sendable {
    var buffer = CoalescingBuffer<Subject, Event>()
    var failure: DiscoveryError?
    /// Whether a wake-up of the reader is scheduled.
    var isSignalled = false
  }

  private let state = Locked(State())
  private let merge: @Sendable (Event, Event) -> Event?
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation

  init(merging merge: @escaping @Sendable (Event, Event) -> Event?) {
    self.merge = merge
    (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// The number of queued events.
  var count: Int { state.withLock { $0.buffer.count } }

  /// Queues an event. With a loop, the reader is woken after the work that the loop is currently
  /// running, so that it receives related events together; without a loop, it is woken at once.
  func send(_ event: Event, about subject: Subject, on loop: NetworkLoop? = nil) {
    let isFirst = state.withLock { state in
      state.buffer.add(event, about: subject, merge)
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

  /// Ends the stream. The reader receives the queued events first, then `error` if it is not nil.
  func finish(throwing error: DiscoveryError?) {
    state.withLock { $0.failure = $0.failure ?? error }
    signal.finish()
  }

  /// Sets a closure that is called when the reader is released or the stream has finished.
  func onTermination(_ body: @escaping @Sendable () -> Void) {
    signal.onTermination = { _ in body() }
  }

  /// Reads the stream. Only one reader may exist at a time.
  struct Reader {
    private let stream: CoalescingStream
    private var signals: AsyncStream<Void>.Iterator

    init(_ stream: CoalescingStream) {
      self.stream = stream
      signals = stream.signals.makeAsyncIterator()
    }

    /// Waits until `pop` returns a value from the buffer. Returns nil when the stream has ended or
    /// the task is cancelled.
    mutating func next<Value: Sendable>(
      isolation actor: isolated (any Actor)?,
      _ pop: (inout CoalescingBuffer<Subject, Event>) -> Value?
    ) async throws(DiscoveryError) -> Value? {
      var isOver = false
      while true {
        if let value = stream.pop(pop) { return value }
        if isOver {
          if let failure = stream.removeFailure() { throw failure }
          return nil
        }
        isOver = await signals.next(isolation: actor) == nil
      }
    }
  }

  private func pop<Value: Sendable>(
    _ pop: (inout CoalescingBuffer<Subject, Event>) -> Value?
  ) -> Value? {
    state.withLock { pop(&$0.buffer) }
  }

  private func removeFailure() -> DiscoveryError? { state.withLock { $0.failure.take() } }
}

// MARK: - Producers

extension CoalescingStream {
  /// A closure that stops the producer.
  typealias Stop = @Sendable () async -> Void
  typealias Send = @Sendable (Event, Subject, NetworkLoop) -> Void
  typealias Finish = @Sendable (DiscoveryError) -> Void

  /// Starts the producer of `stream` in a separate task and returns the stream's reader. When the
  /// reader is released, the closure that `start` returned is called to stop the producer.
  static func read(
    _ stream: CoalescingStream,
    _ start:
      @escaping @Sendable (@escaping Send, @escaping Finish)
      async throws(DiscoveryError) -> Stop
  ) -> Reader {
    let task = Task { [weak stream] () -> Stop? in
      do throws(DiscoveryError) {
        return try await start({ [weak stream] in stream?.send($0, about: $1, on: $2) }) {
          [weak stream] in stream?.finish(throwing: $0)
        }
      } catch {
        stream?.finish(throwing: error)
        return nil
      }
    }
    stream.onTermination {
      Task { await task.value?() }
    }
    return Reader(stream)
  }
}
