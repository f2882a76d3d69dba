import CaromCore

/// Calls back when interfaces or addresses are added, removed or changed. The callback should list
/// the interfaces again.
///
/// Changes in quick succession cause only one call. Not `Sendable`: all members must be used on the
/// loop's thread. Releasing the monitor stops it.
public final class InterfaceMonitor {
  /// The delay between the first change and the monitor's call to `changed`. Further changes during
  /// this time cause no additional call.
  public static let coalescingInterval = Duration.milliseconds(50)

  private let loop: NetworkLoop
  private let core: MonitorCore

  /// Creates and starts a monitor that calls `changed` on the loop's thread after interfaces or
  /// addresses have changed.
  public init(on loop: NetworkLoop, _ changed: @escaping () -> Void) throws(TransportError) {
    loop.preconditionCurrent("a monitor")
    self.loop = loop
    core = try MonitorCore(core: loop.core, changed)
  }

  /// Creates and starts a monitor that calls `changed` isolated to `owner`, an actor whose executor
  /// is the loop. The monitor holds `owner` weakly.
  public convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, _ changed: @escaping (isolated Owner) -> Void
  ) throws(TransportError) {
    let changed = ActorCallbacks(owner, on: loop).bind(changed)
    try self.init(on: loop, changed)
  }

  deinit { loop.core.release(core) }

  /// Stops the monitor. `changed` is not called again.
  public func stop() {
    loop.preconditionCurrent("a monitor")
    core.close()
  }
}
