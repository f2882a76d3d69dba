import CaromCore

extension NetworkLoop {
  /// The addresses of `host`, a name or an address in text, in the system's order of preference.
  ///
  /// Callable from anywhere. A cancelled task gets `cancelled` at once.
  public func lookup(host: String) async throws(TransportError) -> [IPAddress] {
    if let address = IPAddress(host) { return [address] }
    let reference = LoopBound(LookupCore(core: core, host: host))
    let result: Result<[IPAddress], TransportError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        post { reference.value.start(continuation) }
      }
    } onCancel: {
      post { reference.value.finish(.failure(.cancelled)) }
    }
    return try result.get()
  }
}
