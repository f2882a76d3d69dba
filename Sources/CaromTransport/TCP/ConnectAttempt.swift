import CUVLoop
import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A connection attempt to one endpoint.
@safe final class ConnectAttempt: LoopResource {
  let peer: Endpoint
  private var handle: StreamHandle?
  /// The attempt to open a simulated stream.
  private var virtual: (any VirtualPort)?
  private weak var connector: Connector?

  init(
    to endpoint: Endpoint, for connector: Connector, on core: LoopCore
  ) throws(TransportError) {
    peer = endpoint
    self.connector = connector
    super.init(core: core)
    guard core.isOpen else { throw .closed }
    if let system = core.system {
      try open(in: system)
      return
    }
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
    handle = unsafe .system(out!)
    didOpen()
  }

  private func open(in system: any VirtualSystem) throws(TransportError) {
    virtual = try system.connect(to: peer) { [weak self] result in self?.finish(result) }
    didOpen()
  }

  private func finish(_ result: Result<any VirtualStreamEnd, TransportError>) {
    switch result {
    case .success(let end):
      handle = .virtual(end)
      connector?.attemptDidEnd(self, 0)
    case .failure(.connectionRefused): connector?.attemptDidEnd(self, -ECONNREFUSED)
    case .failure: connector?.attemptDidEnd(self, -ETIMEDOUT)
    }
  }

  /// Closes the attempt and returns its stream, which the caller then owns. Returns nil if the
  /// attempt no longer has a stream.
  func detachStream() -> StreamHandle? {
    let stream = handle
    handle = nil
    close()
    return stream
  }

  override func didClose() {
    virtual?.close()
    virtual = nil
    handle?.destroy(reset: true)
    handle = nil
  }

  override func shutDown() {
    close()
    connector?.attemptDidShutDown(self)
  }
}
