/// Something open on a loop: the loop holds it until it is closed, so that C never calls into
/// freed memory. The public classes are its handles; dropping one closes it.
class LoopResource {
  let core: LoopCore
  private(set) var isOpen = false

  init(core: LoopCore) { self.core = core }

  /// Says that the C side is open from now on.
  final func didOpen() {
    isOpen = true
    core.add(self)
  }

  /// Closes at once and for good; a second call does nothing.
  final func close() {
    guard isOpen else { return }
    isOpen = false
    core.remove(self)
    didClose()
  }

  /// Frees the C side and lets go of the handlers; nothing calls back afterwards.
  func didClose() {}

  /// Its public handle is gone.
  func letGo() { close() }

  /// The loop shuts down under it.
  func shutDown() { close() }
}
