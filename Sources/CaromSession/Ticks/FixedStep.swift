import CaromCore
import CaromSimulation
import CaromTransport

/// Ticks at a fixed rate, for a loop that owns its game:
/// `for await step in FixedStep(hertz: 60, on: loop)`.
///
/// The schedule is absolute, in whole nanoseconds, so that it never drifts. A loop that falls
/// behind is given the ticks that it missed at once, up to a quarter of a second of them; what is
/// beyond that is dropped and counted, so that a process that slept does not run after its past.
public struct FixedStep: AsyncSequence, Sendable {
  /// One step to be made.
  public struct Step: Hashable, Sendable {
    /// Its number, counted from 0 without gaps.
    public let tick: Tick
    /// How much later than due the timer fired.
    public let lateness: Duration
    /// How many ticks before it were dropped, because the loop was too far behind.
    public let dropped: Int
  }

  /// The longest time that is caught up with.
  public static let catchUpLimit = Duration.milliseconds(250)

  private let hertz: Int
  private let loop: NetworkLoop

  /// Ticks `hertz` times a second on the loop's clock, from the first `next()` on.
  public init(hertz: Int, on loop: NetworkLoop) {
    precondition(hertz > 0, "a rate is ticks a second, 1 or more")
    self.hertz = hertz
    self.loop = loop
  }

  /// Begins to tick.
  public func makeAsyncIterator() -> Iterator { Iterator(hertz: hertz, loop: loop) }

  /// The ticks of one loop; dropping it stops them.
  public struct Iterator: AsyncIteratorProtocol {
    private let source: TickSource
    private var steps: AsyncStream<Step>.Iterator

    init(hertz: Int, loop: NetworkLoop) {
      let limit = Swift.max(1, Int(FixedStep.catchUpLimit.wholeNanoseconds) * hertz / 1_000_000_000)
      let (stream, continuation) = AsyncStream.makeStream(
        of: Step.self, bufferingPolicy: .bufferingOldest(limit))
      steps = stream.makeAsyncIterator()
      source = TickSource(hertz: hertz, catchUp: limit, on: loop, to: continuation)
    }

    /// The next step; `nil` when the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Step? {
      await steps.next(isolation: actor)
    }

    /// The next step; `nil` when the task was cancelled.
    public mutating func next() async -> Step? { await next(isolation: #isolation) }
  }
}

/// Owns the ticker of one `FixedStep` loop.
private final class TickSource: Sendable {
  private let clockwork: Clockwork

  init(
    hertz: Int, catchUp: Int, on loop: NetworkLoop,
    to continuation: AsyncStream<FixedStep.Step>.Continuation
  ) {
    let clockwork = Clockwork(on: loop, catchUp: catchUp, continuation)
    self.clockwork = clockwork
    Task(executorPreference: loop) { await clockwork.start(hertz: hertz) }
  }

  deinit {
    let clockwork = clockwork
    Task(executorPreference: clockwork.loop) { await clockwork.stop() }
  }
}

private actor Clockwork: LoopActor {
  nonisolated let loop: NetworkLoop
  private let catchUp: Int
  private let continuation: AsyncStream<FixedStep.Step>.Continuation
  private var ticker: Ticker?
  private var next = Tick.zero
  private var dropped = 0
  private var isStopped = false

  init(
    on loop: NetworkLoop, catchUp: Int,
    _ continuation: AsyncStream<FixedStep.Step>.Continuation
  ) {
    self.loop = loop
    self.catchUp = catchUp
    self.continuation = continuation
  }

  func start(hertz: Int) {
    guard !isStopped else { return }
    ticker = Ticker(on: loop, owner: self, hertz: hertz) { clockwork, tick in
      clockwork.fire(tick)
    }
  }

  func stop() {
    isStopped = true
    ticker?.stop()
    ticker = nil
    continuation.finish()
  }

  private func fire(_ fired: Ticker.Tick) {
    let due = Int(fired.missed) + 1
    dropped += max(0, due - catchUp)
    for _ in 0..<min(due, catchUp) {
      let step = FixedStep.Step(tick: next, lateness: fired.lateness, dropped: dropped)
      guard case .enqueued = continuation.yield(step) else {
        dropped += 1
        continue
      }
      next = next.next
      dropped = 0
    }
  }
}
