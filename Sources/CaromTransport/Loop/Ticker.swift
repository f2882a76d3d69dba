import CaromCore

/// Calls back at a fixed rate on an absolute schedule: lateness of one tick moves no other.
///
/// When the loop was busy or the process asleep, the next callback says how many ticks it missed;
/// the caller decides whether to run them. Belongs to the loop's thread; dropping it stops it.
public final class Ticker {
  /// A tick as it is delivered.
  public struct Tick: Hashable, Sendable {
    /// Its number; the schedule's first is 0.
    public let index: Int64
    /// When it was due.
    public let due: Instant
    /// When it was delivered.
    public let now: Instant
    /// How many ticks were due since the last delivered one, and are not delivered.
    public let missed: Int64
    /// How much later than due it was delivered.
    public var lateness: Duration { now - due }
  }

  /// The times of the ticks.
  public let schedule: TickSchedule
  private let loop: NetworkLoop
  private let timer: TimerCore

  /// Ticks `hertz` times a second from `start` on, which is now unless given.
  public init(
    on loop: NetworkLoop, hertz: Int, start: Instant? = nil, _ tick: @escaping (Tick) -> Void
  ) {
    loop.preconditionCurrent("a ticker")
    let schedule = TickSchedule(start: start ?? loop.now, hertz: hertz)
    self.schedule = schedule
    self.loop = loop
    var next: Int64 = 0
    let again = Reference<TimerCore>()
    timer = TimerCore(core: loop.core) {
      let now = NetworkLoop.now
      guard let index = schedule.latest(at: now), index >= next else { return }
      let missed = index - next
      next = index + 1
      again.value?.arm(at: schedule.due(next))
      tick(Tick(index: index, due: schedule.due(index), now: now, missed: missed))
    }
    again.value = timer
    timer.arm(at: schedule.start)
  }

  /// Ticks inside `owner`, an actor whose executor is the loop, held weakly.
  public convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, hertz: Int, start: Instant? = nil,
    _ tick: @escaping (isolated Owner, Tick) -> Void
  ) {
    let tick = ActorCallbacks(owner, on: loop).bind(tick)
    self.init(on: loop, hertz: hertz, start: start, tick)
  }

  deinit { loop.core.release(timer) }

  /// No tick follows.
  public func stop() {
    loop.preconditionCurrent("a ticker")
    timer.close()
  }
}

/// A weak reference that a closure can be given before the object exists.
private final class Reference<Object: AnyObject> {
  weak var value: Object?
}
