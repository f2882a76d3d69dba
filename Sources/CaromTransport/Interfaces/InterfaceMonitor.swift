import CaromCore

/// Calls back when links or addresses come, go or change; list the interfaces again then.
///
/// Changes that follow each other closely are told once. Belongs to the loop's thread; dropping
/// it ends it.
public final class InterfaceMonitor {
  /// How long changes are gathered before they are told.
  public static let coalescingInterval = Duration.milliseconds(50)

  private let loop: NetworkLoop
  private let core: MonitorCore

  /// Watches from now on.
  public init(on loop: NetworkLoop, _ changed: @escaping () -> Void) throws(TransportError) {
    loop.preconditionCurrent("a monitor")
    self.loop = loop
    core = try MonitorCore(core: loop.core, changed)
  }

  /// Tells changes inside `owner`, an actor whose executor is the loop, held weakly.
  public convenience init<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner, _ changed: @escaping (isolated Owner) -> Void
  ) throws(TransportError) {
    let changed = ActorCallbacks(owner, on: loop).bind(changed)
    try self.init(on: loop, changed)
  }

  deinit { loop.core.release(core) }

  /// No call follows.
  public func stop() {
    loop.preconditionCurrent("a monitor")
    core.close()
  }
}
