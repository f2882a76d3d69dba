import CaromCore

extension TCPStream {
  /// Connects to the first of `endpoints` that answers (RFC 8305 §5).
  ///
  /// Families alternate, each address is tried once, the next one starts when `attemptDelay` has
  /// passed or the one before has failed. `deadline` is for all of it. Cancelling the task closes
  /// all attempts. Call it on the loop: from an actor whose executor is the loop, or in
  /// `Task(executorPreference: loop)`.
  public static func connect(
    to endpoints: [Endpoint], on loop: NetworkLoop, deadline: Duration = .seconds(10),
    attemptDelay: Duration = .milliseconds(250)
  ) async throws(TransportError) -> TCPStream {
    loop.preconditionCurrent("TCPStream.connect")
    let connector = Connector(
      to: Connector.interleaved(endpoints), on: loop, attemptDelay: attemptDelay)
    let reference = LoopBound(connector)
    let limit = loop.now + deadline
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // This closure may run on another thread, whatever the caller's executor is.
        loop.post { reference.value.start(until: limit, continuation) }
      }
    } onCancel: {
      loop.post { reference.value.finish(.failure(.cancelled)) }
    }
    return try connector.takeResult()
  }
}
