import CaromCore

/// A task that sleeps until a deadline.
final class Sleeper: LoopResource {
  private var timer: TimerCore?
  private var result: Result<Void, TransportError>?
  private var continuation: CheckedContinuation<Result<Void, TransportError>, Never>?

  func start(
    until deadline: Instant,
    _ continuation: CheckedContinuation<Result<Void, TransportError>, Never>
  ) {
    self.continuation = continuation
    if let result { return finish(result) }
    guard core.isOpen else { return finish(.failure(.closed)) }
    timer = TimerCore(core: core) { [weak self] in self?.finish(.success(())) }
    timer?.arm(at: deadline)
    didOpen()
  }

  func finish(_ result: Result<Void, TransportError>) {
    self.result = self.result ?? result
    close()
    continuation?.resume(returning: result)
    continuation = nil
  }

  override func didClose() { timer?.close() }

  override func shutDown() { finish(.failure(.closed)) }
}
