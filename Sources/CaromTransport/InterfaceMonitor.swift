import CUVLoop
import CaromCore

/// Calls back when links or addresses come, go or change; list the interfaces again then.
///
/// Changes that follow each other closely are told once. Belongs to the loop's thread; dropping
/// it ends it.
public final class InterfaceMonitor {
  /// How long changes are gathered before they are told.
  public static let settlingTime = Duration.milliseconds(50)

  private let loop: EventLoop
  private let core: MonitorCore

  /// Watches from now on.
  public init(on loop: EventLoop, _ changed: @escaping () -> Void) throws(TransportError) {
    loop.preconditionCurrent("a monitor")
    self.loop = loop
    core = try MonitorCore(core: loop.core, changed)
  }

  /// Tells changes inside `owner`, an actor whose executor is the loop, held weakly.
  public convenience init<Owner: Actor>(
    on loop: EventLoop, owner: isolated Owner, _ changed: @escaping (isolated Owner) -> Void
  ) throws(TransportError) {
    let changed = Isolated(owner, on: loop).bind(changed)
    try self.init(on: loop, changed)
  }

  deinit { loop.core.release(core) }

  /// No call follows.
  public func stop() {
    loop.preconditionCurrent("a monitor")
    core.close()
  }
}

/// A monitor as the loop holds it.
@safe private final class MonitorCore: LoopResource {
  private var handle: OpaquePointer?
  private var timer: TimerCore?

  init(core: LoopCore, _ changed: @escaping () -> Void) throws(TransportError) {
    super.init(core: core)
    guard core.isOpen else { throw .closed }
    var out: OpaquePointer?
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let status = unsafe cuv_monitor_create(
      core.handle!, context,
      { context in
        unsafe Unmanaged<MonitorCore>.fromOpaque(context).takeUnretainedValue().settle()
      }, &out)
    try check(status, "watch the interfaces")
    unsafe handle = unsafe out
    timer = TimerCore(core: core, changed)
    didOpen()
  }

  /// Tells after a while, counted from the first change.
  private func settle() {
    guard let timer, timer.place == nil else { return }
    timer.arm(at: EventLoop.now + InterfaceMonitor.settlingTime)
  }

  override func didClose() {
    guard let open = unsafe handle else { return }
    unsafe handle = nil
    unsafe cuv_monitor_destroy(open)
    timer?.close()
    timer = nil
  }
}
