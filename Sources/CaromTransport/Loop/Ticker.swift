import CaromCore

/// Calls back at a fixed rate on an absolute schedule, so that a late tick does not delay later
/// ones.
///
/// If the loop was busy or the process suspended, the next callback receives the number of ticks
/// that were missed, and decides whether to make up for them. Not `Sendable`: all members must be
/// used on the loop's thread. Releasing the ticker stops it.
public final class Ticker {
  /// A tick as it is passed to the ticker's handler.
  public struct Tick: Hashable, Sendable {
    /// The index of the tick; the first tick of the schedule has index 0.
    public let index: Int64
    /// The time at which the tick was due.
    public let due: Instant
    /// The time at which the tick was delivered.
    public let now: Instant
    /// The number of ticks that were due after the last delivered tick and were skipped.
    public let missed: Int64
    /// The delay between `due` and `now`.
    public var lateness: Duration { now - due }
  }

  /// The schedule of the ticks.
  public let schedule: TickSchedule
  private let loop: NetworkLoop
  private let timer: TimerCore

  /// Creates and starts a ticker that calls `tick` `hertz` times per second, beginning at `start`,
  /// or immediately if `start` is nil.
  public init(
    on loop: NetworkLoop, hertz: Int, start: Instant? = nil, _ tick: @escaping (Tick) -> Void
  ) {
    loop.preconditionCurrent("a ticker")
    let schedule = TickSchedule(start: start ?? loop.now, hertz: hertz)
    self.schedule = schedule
    self.loop = loop
    var next: Int64 = 0
    let again = Reference<TimerCore>()
    timer = TimerCore(core: loop.core) { [core = loop.core] in
      let now = core.now
      guard let index = schedule.latest(at: now), index >= next else { return }
      let missed = index - next
      next = index + 1
      core.load.ticks += UInt64(missed) + 1
      core.load.lateTicks += UInt64(missed)
      again.value?.arm(at: schedule.due(next))
      tick(Tick(index: index, due: schedule.due(index), now: now, missed: missed))
    }
    again.value = timer
    timer.arm(at: schedule.start)
  }

  /// Creates and starts a ticker that calls `tick` isolated to `owner`, an actor whose executor is
  /// the loop. The ticker holds `owner` weakly.
  public convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, hertz: Int, start: Instant? = nil,
    _ tick: @escaping (isolated Owner, Tick) -> Void
  ) {
    let tick = ActorCallbacks(owner, on: loop).bind(tick)
    self.init(on: loop, hertz: hertz, start: start, tick)
  }

  deinit { loop.core.release(timer) }

  /// Stops the ticker. No further tick is delivered.
  public func stop() {
    loop.preconditionCurrent("a ticker")
    timer.close()
  }
}

/// A weak reference that a closure can capture before the object exists.
private final class Reference<Object: AnyObject> {
  weak var value: Object?
}
