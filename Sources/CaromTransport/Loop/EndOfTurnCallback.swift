import CaromCore

/// Calls back once at the end of the loop's turn, however often it was asked for in it: so that
/// what many callbacks of one turn have queued leaves together.
///
/// Belongs to the loop's thread; after it was dropped nothing is called.
public final class EndOfTurnCallback {
  /// What the loop's queue holds: not the owner's object, so that nothing refers to that weakly,
  /// which would make each use of it slow.
  private final class State {
    var body: (() -> Void)?
    var isRequested = false

    init(_ body: @escaping () -> Void) { self.body = body }

    func fire() {
      isRequested = false
      body?()
    }
  }

  private let loop: NetworkLoop
  private let state: State
  private let work: LoopCore.Work

  /// A callback inside `owner`, an actor whose executor is the loop, held weakly.
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

  /// Asks for the callback, after what runs now.
  public func schedule() {
    guard !state.isRequested else { return }
    loop.preconditionCurrent("the end of a turn")
    state.isRequested = true
    loop.core.enqueue(work)
  }
}
