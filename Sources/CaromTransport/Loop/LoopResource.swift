/// A resource that is open on a loop, such as a socket or a timer. The loop holds it until it is
/// closed, so that C callbacks never refer to freed memory. The public classes are handles to
/// resources; releasing a handle closes its resource.
class LoopResource {
  let core: LoopCore
  private(set) var isOpen = false

  init(core: LoopCore) { self.core = core }

  /// Registers the resource with the loop, once its C object is open.
  final func didOpen() {
    isOpen = true
    core.add(self)
  }

  /// Closes the resource at once. Further calls have no effect.
  final func close() {
    guard isOpen else { return }
    isOpen = false
    core.remove(self)
    didClose()
  }

  /// Called once by `close()`. Subclasses free the C object and release the handlers here, so that
  /// no handler is called afterwards.
  func didClose() {}

  /// Called when the public handle has been released.
  func handleReleased() { close() }

  /// Called when the loop shuts down while the resource is open.
  func shutDown() { close() }

  /// Called when a file descriptor has become free, if the resource waits for one.
  func descriptorAvailable() {}
}
