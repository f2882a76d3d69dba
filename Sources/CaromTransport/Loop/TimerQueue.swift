import CUVLoop
import CaromCore

/// All timers of a loop, in a heap ordered by deadline, on top of a single system timer. Timers
/// with equal deadlines fire in the order in which they were armed.
///
/// Since all timers share one file descriptor, they work even when no descriptors are left.
@safe final class TimerQueue {
  private var heap = Heap<TimerCore>()
  private var handle: OpaquePointer?
  private var armed = Instant.distantFuture
  private var isExpiring = false
  /// The number of times that a timer was armed.
  private var armings: UInt64 = 0
  private var isOpen = true
  private unowned let core: LoopCore

  /// Creates the queue of a simulated loop. The simulation asks for the first deadline, and calls
  /// `expire` when it has passed.
  init(simulatedFor core: LoopCore) { self.core = core }

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

  /// The earliest deadline, or nil if no timer is armed.
  var nextDeadline: Instant? { heap.first?.deadline }

  func close() {
    guard isOpen else { return }
    isOpen = false
    if let open = unsafe handle { unsafe cuv_timer_destroy(open) }
    unsafe handle = nil
    while let timer = heap.popFirst() { timer.heapIndex = nil }
  }

  /// Arms `timer` to fire at `deadline`, replacing any deadline set before.
  func arm(_ timer: TimerCore, at deadline: Instant) {
    guard isOpen else { return }
    timer.deadline = deadline
    timer.arming = armings
    armings += 1
    timer.isDue = false
    if let index = timer.heapIndex { heap.updatePosition(of: index) } else { heap.insert(timer) }
    if !isExpiring, deadline < armed { armSystem() }
  }

  func cancel(_ timer: TimerCore) {
    timer.isDue = false
    guard let index = timer.heapIndex else { return }
    heap.remove(at: index)
    timer.heapIndex = nil
  }

  /// Fires the timers that are due, then arms the system timer for the next deadline.
  func expire() {
    let now = core.now
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
    // For a deadline that has passed, waking the loop costs far less than arming the system timer,
    // especially on virtual machines.
    if armed <= NetworkLoop.now { return core.wakeForTimers() }
    _ = unsafe cuv_timer_arm(handle, armed.nanoseconds)
  }
}
