import CaromCore

/// A callback that runs once at the end of a loop iteration, no matter how many times it was
/// scheduled in that iteration. It is used to send, in one batch, what several callbacks have
/// queued.
///
/// Not `Sendable`: all members must be used on the loop's thread. Once the object is released, no
/// call is made.
public final class EndOfTurnCallback {
  /// The state that the loop's work queue refers to. It is separate from the callback object so
  /// that the queue needs no weak reference, which would slow down every access to the object.
  private final class State {
    var body: (() -> Void)?
    var isScheduled = false

    init(_ body: @escaping () -> Void) { self.body = body }

    func fire() {
      isScheduled = false
      body?()
    }
  }

  private let loop: NetworkLoop
  private let state: State
  private let work: LoopCore.Work

  /// Creates a callback that runs isolated to `owner`, an actor whose executor is the loop. The
  /// callback holds `owner` weakly.
  public init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, _ body: @escaping (isolated Owner) -> Void
  ) {
    self.loop = loop
    let state = State(ActorCallbacks(owner, on: loop).bind(body))
    self.state = state
    work = .call { state.fire() }
  }

  deinit {
    let state = state
    if loop.isCurrent {
      state.body = nil
    } else {
      loop.core.enqueue(.call { state.body = nil })
    }
  }

  /// Schedules the callback to run once the loop has finished the work that it is currently
  /// running.
  public func schedule() {
    guard !state.isScheduled else { return }
    loop.preconditionCurrent("an end-of-turn callback")
    state.isScheduled = true
    loop.core.enqueue(work)
  }
}
