import CUVLoop
import CaromCore

/// The deadlines of a loop's timers in a binary heap, over one timer of the system.
///
/// One descriptor serves them all, so that timers work when no descriptors are left.
@safe final class TimerQueue {
  private var heap = Heap<TimerCore>()
  private var handle: OpaquePointer?
  private var armed = Instant.distantFuture
  private var isExpiring = false
  private unowned let core: LoopCore

  init(core: LoopCore) throws(TransportError) {
    self.core = core
    var out: OpaquePointer?
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let expire: cuv_expire = { context in
      unsafe Unmanaged<TimerQueue>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.expire() }
    }
    try check(unsafe cuv_timer_create(core.handle!, context, expire, &out), "open a timer")
    unsafe handle = unsafe out
  }

  func close() {
    guard let open = unsafe handle else { return }
    unsafe handle = nil
    unsafe cuv_timer_destroy(open)
    while let timer = heap.popFirst() { timer.place = nil }
  }

  /// Puts `timer` in, or moves it, to fire at `deadline`.
  func arm(_ timer: TimerCore, at deadline: Instant) {
    guard unsafe handle != nil else { return }
    timer.deadline = deadline
    timer.isDue = false
    if let place = timer.place { heap.updatePosition(of: place) } else { heap.insert(timer) }
    if !isExpiring, deadline < armed { armSystem() }
  }

  func cancel(_ timer: TimerCore) {
    timer.isDue = false
    guard let place = timer.place else { return }
    heap.remove(at: place)
    timer.place = nil
  }

  func expire() {
    let now = NetworkLoop.now
    var due: [TimerCore] = []
    while let first = heap.first, first.deadline <= now {
      cancel(first)
      first.isDue = true
      due.append(first)
    }
    isExpiring = true
    for timer in due where timer.isDue {
      timer.isDue = false
      timer.fire()
    }
    isExpiring = false
    armed = .distantFuture
    armSystem()
  }

  private func armSystem() {
    guard let first = heap.first, let handle = unsafe handle else { return }
    armed = first.deadline
    // What is due already needs no timer of the system, which costs far more than a wake-up where
    // the machine is a virtual one.
    if armed <= NetworkLoop.now { return core.wakeForTimers() }
    _ = unsafe cuv_timer_arm(handle, armed.nanoseconds)
  }
}
