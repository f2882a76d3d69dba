/// An actor whose executor is a network loop, so that it can own sockets and timers of the loop.
///
/// A conforming actor must hold a strong reference to its loop.
public protocol LoopActor: Actor {
  /// The loop on whose thread the actor runs.
  nonisolated var loop: NetworkLoop { get }
}

extension LoopActor {
  /// The loop as the actor's executor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe loop.asUnownedSerialExecutor()
  }
}
