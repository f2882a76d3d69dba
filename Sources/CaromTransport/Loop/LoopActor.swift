/// An actor that lives on an event loop and may own sockets and timers there.
///
/// Conforming makes the loop the actor's executor; the actor holds the loop.
public protocol LoopActor: Actor {
  /// The loop that it lives on.
  nonisolated var loop: NetworkLoop { get }
}

extension LoopActor {
  /// The loop.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe loop.asUnownedSerialExecutor()
  }
}
