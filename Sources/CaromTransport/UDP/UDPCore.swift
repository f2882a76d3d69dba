import CUVLoop
import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A UDP socket's resources, held by the loop until they are closed.
@safe final class UDPCore: LoopResource {
  private var handle: OpaquePointer?
  /// The socket of a simulated host. It is accessed only if `handle` is nil, so that simulation
  /// support does not slow down the sockets of the operating system.
  private var virtual: (any VirtualDatagramPort)?
  private var receive: ((borrowing UDPBatch) -> Void)?
  private(set) var local = Endpoint(.any4, port: 0)
  private var lastCounters = UDPCounters()

  init(
    core: LoopCore, bind local: Endpoint, options: UDPOptions,
    _ receive: @escaping (borrowing UDPBatch) -> Void
  ) throws(TransportError) {
    super.init(core: core)
    guard core.isOpen else { throw .closed }
    self.receive = receive
    if let system = core.system {
      try open(in: system, bind: local, options)
      return
    }
    var out: OpaquePointer?
    var options = options.c(local)
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let status = unsafe cuv_udp_create(
      core.handle!, &options, context,
      { context, batch, count in
        let core = unsafe Unmanaged<UDPCore>.fromOpaque(context).takeUnretainedValue()
        unsafe core.receive?(UDPBatch(Span(_unsafeStart: batch, count: count)))
      }, &out)
    try check(status, "open a UDP socket", at: local)
    let handle = unsafe out!
    unsafe self.handle = handle
    didOpen()
    do throws(TransportError) {
      self.local = try Endpoint.reading("name a socket") { unsafe cuv_udp_local(handle, &$0) }
    } catch {
      close()
      throw error
    }
  }

  private func open(
    in system: any VirtualSystem, bind local: Endpoint, _ options: UDPOptions
  ) throws(TransportError) {
    guard !options.reusePort else { throw .portSharingUnsupported }
    let port = try system.bind(local) { [weak self] datagram in self?.receive(datagram) }
    virtual = port
    self.local = port.local
    didOpen()
  }

  private func receive(_ datagram: Datagram) {
    unsafe datagram.payload.withUnsafeBufferPointer { bytes in
      var empty: UInt8 = 0
      unsafe withUnsafePointer(to: &empty) { empty in
        let batch = unsafe [
          cuv_datagram(
            bytes: bytes.baseAddress ?? empty, count: UInt32(bytes.count),
            interface: datagram.interface, hop_limit: datagram.hopLimit.map(Int32.init) ?? -1,
            truncated: false, source: datagram.source.c, destination: datagram.destination.c)
        ]
        unsafe receive?(UDPBatch(batch.span))
      }
    }
  }

  override func didClose() {
    virtual?.close()
    virtual = nil
    receive = nil
    guard let open = unsafe handle else { return }
    lastCounters = counters
    unsafe handle = nil
    unsafe cuv_udp_destroy(open)
  }

  func send(_ payload: Span<UInt8>, to peer: Endpoint, interface: UInt32) -> Bool {
    guard let handle = unsafe handle else { return sendVirtually(payload, to: peer) }
    var destination = peer.c
    return unsafe payload.withUnsafeBufferPointer { bytes in
      unsafe cuv_udp_queue(handle, bytes.baseAddress, bytes.count, &destination, interface)
    }
  }

  private func sendVirtually(_ payload: Span<UInt8>, to peer: Endpoint) -> Bool {
    virtual?.send(Array(copying: payload), to: peer)
    return virtual != nil
  }

  func flush() {
    if let handle = unsafe handle { unsafe cuv_udp_flush(handle) }
  }

  var queuedBytes: Int {
    guard let handle = unsafe handle else { return 0 }
    return unsafe cuv_udp_queued(handle)
  }

  var counters: UDPCounters {
    guard let handle = unsafe handle else { return lastCounters }
    let c = unsafe cuv_udp_count(handle).pointee
    return UDPCounters(
      received: c.received, receivedBytes: c.received_bytes, truncated: c.truncated,
      receiveErrors: c.receive_errors, sent: c.sent, sentBytes: c.sent_bytes,
      sendErrors: c.send_errors, queueDrops: c.queue_drops, blocked: c.blocked)
  }

  var lastSendError: TransportError? {
    guard let handle = unsafe handle else { return nil }
    let status = unsafe cuv_udp_last_error(handle)
    return status == 0 ? nil : TransportError(status: status, "send a datagram")
  }

  func membership(_ group: IPAddress, on interface: UInt32, join: Bool) throws(TransportError) {
    var group = Endpoint(group, port: 0).c
    try set(join ? "join a group" : "leave a group") {
      unsafe cuv_udp_membership($0, &group, interface, join)
    }
  }

  /// Calls a C function with the open socket. Throws `closed` if the socket is closed, or the error
  /// that the function returns.
  @safe func set(_ operation: StaticText, _ body: (OpaquePointer) -> Int32) throws(TransportError) {
    guard let handle = unsafe handle else {
      throw virtual == nil ? .closed : TransportError(status: -ENOTSUP, operation)
    }
    try check(unsafe body(handle), operation)
  }
}
