import CUVLoop
import CaromCore

/// A connection attempt to one endpoint.
@safe final class ConnectAttempt: LoopResource {
  let peer: Endpoint
  private var handle: OpaquePointer?
  private weak var connector: Connector?

  init(
    to endpoint: Endpoint, for connector: Connector, on core: LoopCore
  ) throws(TransportError) {
    peer = endpoint
    self.connector = connector
    super.init(core: core)
    guard core.isOpen else { throw .closed }
    var out: OpaquePointer?
    var c = endpoint.c
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let status = unsafe cuv_stream_connect(
      core.handle!, &c, context,
      { context, _, _, _, error in
        let attempt = unsafe Unmanaged<ConnectAttempt>.fromOpaque(context).takeUnretainedValue()
        attempt.connector?.attemptDidEnd(attempt, error)
      }, &out)
    try check(status, "connect", at: endpoint)
    unsafe handle = unsafe out
    didOpen()
  }

  /// Closes the attempt and returns its C stream, which the caller then owns. Returns nil if the
  /// attempt no longer has a stream.
  func detachStream() -> OpaquePointer? {
    let stream = unsafe handle
    unsafe handle = nil
    close()
    return unsafe stream
  }

  override func didClose() {
    guard let open = unsafe handle else { return }
    unsafe handle = nil
    unsafe cuv_stream_destroy(open, true)
  }

  override func shutDown() {
    close()
    connector?.attemptDidShutDown(self)
  }
}
