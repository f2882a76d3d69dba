import CaromCore

extension NetworkLoop {
  /// Waits until `deadline` on the loop's clock; callable from anywhere.
  ///
  /// A cancelled task gets `cancelled` at once, a loop that shuts down `closed`.
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
