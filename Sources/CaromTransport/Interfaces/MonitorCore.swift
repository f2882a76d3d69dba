import CUVLoop
import CaromCore

/// An interface monitor's resources, held by the loop until they are closed.
@safe final class MonitorCore: LoopResource {
  private var handle: OpaquePointer?
  private var timer: TimerCore?

  init(core: LoopCore, _ changed: @escaping () -> Void) throws(TransportError) {
    super.init(core: core)
    let loop = try unsafe core.systemHandle("watch the interfaces")
    var out: OpaquePointer?
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let status = unsafe cuv_monitor_create(
      loop, context,
      { context in
        unsafe Unmanaged<MonitorCore>.fromOpaque(context).takeUnretainedValue().scheduleCall()
      }, &out)
    try check(status, "watch the interfaces")
    unsafe handle = unsafe out
    timer = TimerCore(core: core, changed)
    didOpen()
  }

  /// Schedules a call to `changed`, unless a call is scheduled already.
  private func scheduleCall() {
    guard let timer, timer.heapIndex == nil else { return }
    timer.arm(at: core.now + InterfaceMonitor.coalescingInterval)
  }

  override func didClose() {
    guard let open = unsafe handle else { return }
    unsafe handle = nil
    unsafe cuv_monitor_destroy(open)
    timer?.close()
    timer = nil
  }
}
