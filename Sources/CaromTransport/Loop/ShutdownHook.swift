/// Calls back once when its loop shuts down, while the loop's sockets are still open, so that last
/// datagrams such as goodbyes can be sent. Not `Sendable`: all members must be used on the loop's
/// thread. Releasing the hook removes it.
public final class ShutdownHook {
  private let loop: NetworkLoop
  private let core: ShutdownCore

  /// Creates a hook that calls `body` when `loop` shuts down.
  public init(on loop: NetworkLoop, _ body: @escaping () -> Void) {
    loop.preconditionCurrent("a shutdown hook")
    self.loop = loop
    core = ShutdownCore(core: loop.core, body)
  }

  deinit { loop.core.release(core) }
}

/// A shutdown hook's callback, held by the loop until it is removed.
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
