import CUVLoop
import CaromCore

/// The deadlines of a loop's timers in a binary heap, over one timer of the system.
///
/// One descriptor serves them all, so that timers work when no descriptors are left.
@safe final class TimerQueue {
  private var heap: [TimerCore] = []
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
    for timer in heap { timer.place = nil }
    heap = []
  }

  /// Puts `timer` in, or moves it, to fire at `deadline`.
  func arm(_ timer: TimerCore, at deadline: Instant) {
    guard unsafe handle != nil else { return }
    timer.deadline = deadline
    timer.isDue = false
    if let place = timer.place {
      settle(place)
    } else {
      heap.append(timer)
      timer.place = heap.count - 1
      settle(heap.count - 1)
    }
    if !isExpiring, deadline < armed { armSystem() }
  }

  func cancel(_ timer: TimerCore) {
    timer.isDue = false
    guard let place = timer.place else { return }
    timer.place = nil
    let last = heap.removeLast()
    guard last !== timer else { return }
    heap[place] = last
    last.place = place
    settle(place)
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

  /// Restores the order around `place`: up while earlier than the parent, else down.
  private func settle(_ place: Int) {
    var place = place
    while place > 0, heap[place].deadline < heap[(place - 1) / 2].deadline {
      exchange(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
    while let child = earlierChild(of: place), heap[child].deadline < heap[place].deadline {
      exchange(place, child)
      place = child
    }
  }

  private func earlierChild(of place: Int) -> Int? {
    let left = 2 * place + 1
    guard left < heap.count else { return nil }
    guard left + 1 < heap.count else { return left }
    return heap[left + 1].deadline < heap[left].deadline ? left + 1 : left
  }

  private func exchange(_ a: Int, _ b: Int) {
    heap.swapAt(a, b)
    heap[a].place = a
    heap[b].place = b
  }
}
