import CaromCore

/// A timer that calls back once at an instant of the loop's clock, and can be armed again.
///
/// The timer never fires early. It may fire late, within the precision of the system's timers (a
/// few microseconds on Linux). Not `Sendable`: all members must be used on the loop's thread.
/// Releasing the timer cancels it.
public final class LoopTimer {
  private let loop: NetworkLoop
  private let timer: TimerCore

  /// Creates a timer that is not armed.
  public init(on loop: NetworkLoop, _ fire: @escaping () -> Void) {
    loop.preconditionCurrent("a timer")
    self.loop = loop
    timer = TimerCore(core: loop.core, fire)
  }

  /// Creates a timer that calls `fire` isolated to `owner`, an actor whose executor is the loop.
  /// The timer holds `owner` weakly.
  public convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, _ fire: @escaping (isolated Owner) -> Void
  ) {
    let fire = ActorCallbacks(owner, on: loop).bind(fire)
    self.init(on: loop, fire)
  }

  deinit { loop.core.release(timer) }

  /// The instant at which the timer fires; nil if it is not armed.
  public var deadline: Instant? { timer.heapIndex == nil ? nil : timer.deadline }

  /// Arms the timer for `instant`, replacing any deadline set before. If `instant` has passed, the
  /// timer fires as soon as possible.
  public func arm(at instant: Instant) {
    loop.preconditionCurrent("a timer")
    timer.arm(at: instant)
  }

  /// Arms the timer to fire `duration` from now.
  public func arm(after duration: Duration) { arm(at: loop.now + duration) }

  /// Cancels the timer. It can be armed again.
  public func cancel() {
    loop.preconditionCurrent("a timer")
    timer.cancel()
  }
}
