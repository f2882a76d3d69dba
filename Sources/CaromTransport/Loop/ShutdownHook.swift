/// Calls back once when its loop shuts down, while the loop's sockets are still open: the place
/// for last words. Belongs to the loop's thread; dropping it takes it back.
public final class ShutdownHook {
  private let loop: NetworkLoop
  private let core: ShutdownCore

  /// Waits for the loop's end.
  public init(on loop: NetworkLoop, _ body: @escaping () -> Void) {
    loop.preconditionCurrent("a shutdown hook")
    self.loop = loop
    core = ShutdownCore(core: loop.core, body)
  }

  deinit { loop.core.release(core) }
}

/// A hook as the loop holds it.
final class ShutdownCore: LoopResource {
  private var body: (() -> Void)?

  init(core: LoopCore, _ body: @escaping () -> Void) {
    self.body = body
    super.init(core: core)
    if core.isOpen { didOpen() }
  }

  override func shutDown() {
    let body = body
    close()
    body?()
  }

  override func didClose() { body = nil }
}
