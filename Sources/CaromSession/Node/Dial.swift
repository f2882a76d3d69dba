import CaromCore
import CaromProtocol
import CaromTransport

/// One connection that this side opens: from the call of `connect` or `open` until the connection
/// has ended.
struct Dial {
  /// The key that both links of the connection present to the host.
  let key: ConnectionKey
  /// The host's addresses, kept to dial the stream again when it breaks.
  let endpoints: [Endpoint]
  /// The stream's connection attempt in progress.
  var task: Task<Void, Never>?
  /// The suspended call of `connect`; resumed with nil when the host has granted the seat.
  var waiter: CheckedContinuation<SessionError?, Never>?
  /// The error with which opening the stream failed, stored while the host may still answer over
  /// datagrams.
  var failure: TransportError?

  init(to endpoints: [Endpoint], waiter: CheckedContinuation<SessionError?, Never>? = nil) {
    var generator = SystemRandomNumberGenerator()
    key = ConnectionKey(using: &generator)
    self.endpoints = endpoints
    self.waiter = waiter
  }

  mutating func cancelTask() {
    task?.cancel()
    task = nil
  }

  mutating func resume(with error: SessionError?) {
    waiter?.resume(returning: error)
    waiter = nil
  }
}
