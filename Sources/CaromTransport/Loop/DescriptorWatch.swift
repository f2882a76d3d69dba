import CaromCore

/// Calls back whenever a file descriptor that is not a socket, such as a terminal or a pipe, has
/// unread bytes or has reached its end.
///
/// The callback must either read the bytes or stop the watch: it is called again immediately while
/// unread bytes are left. The watch leaves a blocking descriptor blocking, since other processes
/// may share the descriptor's flags. On such a descriptor, the callback should read only once per
/// call, because a second read may block. Not `Sendable`: all members must be used on the loop's
/// thread. Releasing the watch stops it.
package final class DescriptorWatch {
  private let loop: NetworkLoop
  private let core: DescriptorWatchCore

  /// Creates and starts a watch on `descriptor`, which the caller still owns.
  package init(
    on loop: NetworkLoop, descriptor: Int32, _ readable: @escaping () -> Void
  ) throws(TransportError) {
    loop.preconditionCurrent("a descriptor watch")
    self.loop = loop
    core = try DescriptorWatchCore(core: loop.core, descriptor: descriptor, readable)
  }

  /// Creates and starts a watch that calls `readable` isolated to `owner`, an actor whose executor
  /// is the loop. The watch holds `owner` weakly.
  package convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, descriptor: Int32,
    _ readable: @escaping (isolated Owner) -> Void
  ) throws(TransportError) {
    let readable = ActorCallbacks(owner, on: loop).bind(readable)
    try self.init(on: loop, descriptor: descriptor, readable)
  }

  deinit { loop.core.release(core) }

  /// Stops the watch. The callback is not called again.
  package func stop() {
    loop.preconditionCurrent("a descriptor watch")
    core.close()
  }
}
