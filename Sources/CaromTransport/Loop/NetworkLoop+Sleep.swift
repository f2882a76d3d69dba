import CaromCore

extension NetworkLoop {
  /// Suspends the task until `deadline` on the loop's clock. May be called on any thread.
  ///
  /// Throws `cancelled` at once if the task is cancelled, and `closed` if the loop shuts down.
  public func sleep(until deadline: Instant) async throws(TransportError) {
    let sleeper = LoopBound(Sleeper(core: core))
    let result: Result<Void, TransportError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        post { sleeper.value.start(until: deadline, continuation) }
      }
    } onCancel: {
      post { sleeper.value.finish(.failure(.cancelled)) }
    }
    try result.get()
  }
}

/// A task that sleeps until a deadline.
private final class Sleeper: LoopResource {
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
