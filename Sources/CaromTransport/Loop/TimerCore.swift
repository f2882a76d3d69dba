import CaromCore

/// A timer's place in the queue and what it does.
final class TimerCore: LoopResource, HeapElement {
  var deadline = Instant.distantFuture
  var place: Int?
  /// Taken out of the queue and about to fire.
  var isDue = false
  private var action: (() -> Void)?

  init(core: LoopCore, _ action: @escaping () -> Void) {
    self.action = action
    super.init(core: core)
    if core.isOpen { didOpen() }
  }

  func precedes(_ other: TimerCore) -> Bool { deadline < other.deadline }

  func didMove(to index: Int) { place = index }

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
