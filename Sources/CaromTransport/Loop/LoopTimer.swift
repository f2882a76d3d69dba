import CaromCore

/// Calls back once at an instant of the loop's clock; it can be armed again and again.
///
/// Precise to the system's timers (some microseconds on Linux), never early. Belongs to the
/// loop's thread; dropping it cancels it.
public final class LoopTimer {
  private let loop: NetworkLoop
  private let timer: TimerCore

  /// A timer that is not armed yet.
  public init(on loop: NetworkLoop, _ fire: @escaping () -> Void) {
    loop.preconditionCurrent("a timer")
    self.loop = loop
    timer = TimerCore(core: loop.core, fire)
  }

  /// A timer that fires inside `owner`, an actor whose executor is the loop, held weakly.
  public convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, _ fire: @escaping (isolated Owner) -> Void
  ) {
    let fire = ActorCallbacks(owner, on: loop).bind(fire)
    self.init(on: loop, fire)
  }

  deinit { loop.core.release(timer) }

  /// When it fires next; `nil` when it is not armed.
  public var deadline: Instant? { timer.place == nil ? nil : timer.deadline }

  /// Fires at `instant` instead of whenever it was armed for; at once when that has passed.
  public func arm(at instant: Instant) {
    loop.preconditionCurrent("a timer")
    timer.arm(at: instant)
  }

  /// Fires `duration` from now.
  public func arm(after duration: Duration) { arm(at: loop.now + duration) }

  /// Does not fire until it is armed again.
  public func cancel() {
    loop.preconditionCurrent("a timer")
    timer.cancel()
  }
}
