import CaromCore

/// Calls back whenever a file descriptor that is not a socket, such as a terminal or a pipe, has
/// unread bytes or has reached its end.
///
/// The callback must read until nothing is left or stop the watch; otherwise it is called again at
/// once. All members must be used on the loop's thread. Releasing the watch stops it.
public final class DescriptorWatch {
  private let loop: NetworkLoop
  private let core: DescriptorWatchCore

  /// Creates and starts a watch on `descriptor`, and makes the descriptor non-blocking. The caller
  /// still owns the descriptor.
  public init(
    on loop: NetworkLoop, descriptor: Int32, _ readable: @escaping () -> Void
  ) throws(TransportError) {
    loop.preconditionCurrent("a descriptor watch")
    self.loop = loop
    core = try DescriptorWatchCore(core: loop.core, descriptor: descriptor, readable)
  }

  /// Creates and starts a watch that calls `readable` isolated to `owner`, an actor whose executor
  /// is the loop. The watch holds `owner` weakly.
  public convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, descriptor: Int32,
    _ readable: @escaping (isolated Owner) -> Void
  ) throws(TransportError) {
    let readable = ActorCallbacks(owner, on: loop).bind(readable)
    try self.init(on: loop, descriptor: descriptor, readable)
  }

  deinit { loop.core.release(core) }

  /// Stops the watch. No further call is made.
  public func stop() {
    loop.preconditionCurrent("a descriptor watch")
    core.close()
  }
}
