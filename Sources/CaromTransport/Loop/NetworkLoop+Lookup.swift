import CaromCore

extension NetworkLoop {
  /// Looks up the addresses of `host`, a host name or an address in text form, in the system's
  /// order of preference.
  ///
  /// May be called on any thread. If the task is cancelled, throws `cancelled` at once.
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
