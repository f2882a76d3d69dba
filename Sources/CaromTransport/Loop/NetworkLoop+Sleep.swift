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
