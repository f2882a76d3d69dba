import CaromCore

extension TCPStream {
  /// Connects to the first of `endpoints` that accepts the connection (RFC 8305 §5).
  ///
  /// Address families alternate, and each endpoint is tried once. The next attempt starts when
  /// `attemptDelay` has passed or the previous attempt has failed. `deadline` limits all attempts
  /// together. Cancelling the task closes all attempts. Call this method on the loop's thread: from
  /// an actor whose executor is the loop, or in `Task(executorPreference: loop)`. It stays on that
  /// thread, so that connecting does not wait for the global thread pool, which may be busy.
  public static func connect(
    to endpoints: [Endpoint], on loop: NetworkLoop, deadline: Duration = .seconds(10),
    attemptDelay: Duration = .milliseconds(250), isolation: isolated (any Actor)? = #isolation
  ) async throws(TransportError) -> TCPStream {
    loop.preconditionCurrent("TCPStream.connect")
    let connector = Connector(
      to: Connector.interleaved(endpoints), on: loop, attemptDelay: attemptDelay)
    let reference = LoopBound(connector)
    let limit = loop.now + deadline
    await withTaskCancellationHandler {
      // A closure that does not capture `isolation` would run on the global thread pool.
      await withCheckedContinuation(isolation: isolation) { continuation in
        connector.start(until: limit, continuation)
      }
    } onCancel: {
      loop.post { reference.value.finish(.failure(.cancelled)) }
    }
    return try connector.removeResult()
  }
}
