import CaromCore

/// Calls back once at the end of the loop's turn, however often it was asked for in it: so that
/// what many callbacks of one turn have queued leaves together.
///
/// Belongs to the loop's thread; after it was dropped nothing is called.
public final class TurnEnd {
  private let loop: EventLoop
  private var work: LoopCore.Work?
  private var isRequested = false

  /// A callback inside `owner`, an actor whose executor is the loop, held weakly.
  public init<Owner: Actor>(
    on loop: EventLoop, owner: isolated Owner, _ body: @escaping (isolated Owner) -> Void
  ) {
    self.loop = loop
    let body = Isolated(owner, on: loop).bind(body)
    work = .call { [weak self] in
      guard let self else { return }
      isRequested = false
      body()
    }
  }

  /// Asks for the callback, after what runs now.
  public func request() {
    guard !isRequested, let work else { return }
    loop.preconditionCurrent("the end of a turn")
    isRequested = true
    loop.core.enqueue(work)
  }
}
