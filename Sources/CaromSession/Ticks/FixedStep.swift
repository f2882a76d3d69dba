import CaromCore
import CaromSimulation
import CaromTransport

/// A sequence of ticks at a fixed rate, for a task that runs a game:
/// `for await step in FixedStep(hertz: 60, on: loop)`.
///
/// Tick times are absolute, in whole nanoseconds, so the schedule does not drift. A task that falls
/// behind by up to a quarter of a second receives all missed ticks immediately. Ticks beyond that
/// are dropped and counted, so a process that was suspended does not simulate all of the missed
/// time.
public struct FixedStep: AsyncSequence, Sendable {
  /// One tick to simulate.
  public struct Step: Hashable, Sendable {
    /// The number of the tick, counted from 0 without gaps.
    public let tick: Tick
    /// The delay between the time at which the tick was due and the firing of the timer.
    public let lateness: Duration
    /// The number of ticks that were dropped directly before this tick because the task was too far
    /// behind.
    public let dropped: Int
  }

  /// The maximum time by which a task can fall behind and still get all missed ticks: a quarter of
  /// a second.
  public static let catchUpLimit = Duration.milliseconds(250)

  private let hertz: Int
  private let loop: NetworkLoop

  /// Creates a sequence of `hertz` ticks per second on the given loop. Each iterator starts its own
  /// tick clock.
  public init(hertz: Int, on loop: NetworkLoop) {
    precondition(hertz > 0, "a tick rate is at least 1 per second")
    self.hertz = hertz
    self.loop = loop
  }

  /// Starts a clock and creates an iterator over its ticks.
  public func makeAsyncIterator() -> Iterator { Iterator(hertz: hertz, loop: loop) }

  /// An iterator over the ticks of one clock. The clock stops when the iterator is released.
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

    /// Waits for the next tick. Returns nil when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Step? {
      await steps.next(isolation: actor)
    }

    /// Waits for the next tick. Returns nil when the task is cancelled.
    public mutating func next() async -> Step? { await next(isolation: #isolation) }
  }
}

/// Stops the clock of one `FixedStep` iterator when the iterator is released.
private final class TickSource: Sendable {
  private let clock: TickClock

  init(
    hertz: Int, catchUp: Int, on loop: NetworkLoop,
    to continuation: AsyncStream<FixedStep.Step>.Continuation
  ) {
    let clock = TickClock(on: loop, catchUp: catchUp, continuation)
    self.clock = clock
    Task(executorPreference: loop) { await clock.start(hertz: hertz) }
  }

  deinit {
    let clock = clock
    Task(executorPreference: clock.loop) { await clock.stop() }
  }
}

/// The clock of one iterator, which turns the firings of a loop's ticker into steps.
private actor TickClock: LoopActor {
  nonisolated let loop: NetworkLoop
  /// The maximum number of ticks, missed ones included, that are emitted each time the ticker
  /// fires.
  private let catchUp: Int
  private let continuation: AsyncStream<FixedStep.Step>.Continuation
  private var ticker: Ticker?
  private var next = Tick.zero
  /// The number of ticks dropped since the last step.
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
    ticker = Ticker(on: loop, owner: self, hertz: hertz) { clock, tick in clock.fire(tick) }
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
