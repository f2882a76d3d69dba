import CaromCore

/// A timer's deadline and callback, held by the loop until the timer is closed.
final class TimerCore: LoopResource, HeapElement {
  var deadline = Instant.distantFuture
  /// The number of armings of the queue's timers before this timer was armed last.
  var arming: UInt64 = 0
  /// The timer's index in the queue's heap; nil if it is not armed.
  var heapIndex: Int?
  /// Whether the timer has been removed from the queue and is about to fire.
  var isDue = false
  private var action: (() -> Void)?

  init(core: LoopCore, _ action: @escaping () -> Void) {
    self.action = action
    super.init(core: core)
    if core.isOpen { didOpen() }
  }

  func precedes(_ other: TimerCore) -> Bool {
    (deadline, arming) < (other.deadline, other.arming)
  }

  func didMove(to index: Int) { heapIndex = index }

  func arm(at deadline: Instant) {
    if isOpen { core.timers?.arm(self, at: deadline) }
  }

  func cancel() { core.timers?.cancel(self) }

  func fire() {
    let action = action
    action?()
  }

  override func didClose() {
    cancel()
    action = nil
  }
}
