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
  /// Whether bytes are added to the datagrams that are sent.
  private let addsRouting: Bool
  /// Whether bytes are removed from the datagrams that are received.
  private let removesRouting: Bool
  private let sentRouting: DatagramRouting?
  private let receivedRouting: DatagramRouting?
  private(set) var local = Endpoint(.any4, port: 0)
  private var lastCounters = UDPCounters()

  init(
    core: LoopCore, bind local: Endpoint, options: UDPOptions,
    _ receive: @escaping (borrowing UDPBatch) -> Void
  ) throws(TransportError) {
    (sentRouting, receivedRouting) = (options.sentRouting, options.receivedRouting)
    addsRouting = options.sentRouting != nil
    removesRouting = options.receivedRouting != nil
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
        unsafe core.receive(batch, count)
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

  private func receive(_ batch: UnsafeMutablePointer<cuv_datagram>, _ count: Int) {
    if removesRouting { unsafe removeRouting(from: batch, count) }
    unsafe receive?(UDPBatch(Span(_unsafeStart: UnsafePointer(batch), count: count)))
  }

  @inline(never)
  private func removeRouting(from batch: UnsafeMutablePointer<cuv_datagram>, _ count: Int) {
    guard let receivedRouting else { return }
    for index in 0..<count {
      let bytes = unsafe Span(_unsafeStart: batch[index].bytes, count: Int(batch[index].count))
      guard let payload = receivedRouting.payload(of: bytes) else { continue }
      unsafe batch[index].bytes += payload.lowerBound
      unsafe batch[index].count = UInt32(payload.count)
    }
  }

  private func receive(_ datagram: Datagram) {
    var datagram = datagram
    if let payload = receivedRouting?.payload(of: datagram.payload.span) {
      datagram.payload = Array(datagram.payload[payload])
    }
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
    if addsRouting { return sendWithRouting(payload, to: peer, interface: interface) }
    var destination = peer.c
    return unsafe payload.withUnsafeBufferPointer { bytes in
      unsafe cuv_udp_queue(handle, bytes.baseAddress, bytes.count, &destination, interface)
    }
  }

  @inline(never)
  private func sendWithRouting(
    _ payload: Span<UInt8>, to peer: Endpoint, interface: UInt32
  ) -> Bool {
    guard let handle = unsafe handle, let sentRouting else { return false }
    var destination = peer.c
    return unsafe payload.withUnsafeBufferPointer { bytes in
      unsafe sentRouting.bytes.withUnsafeBufferPointer { routing in
        let isPrefix = sentRouting.position == .prefix
        let (first, second) = unsafe isPrefix ? (routing, bytes) : (bytes, routing)
        return unsafe cuv_udp_queue_parts(
          handle, first.baseAddress, first.count, second.baseAddress, second.count,
          &destination, interface)
      }
    }
  }

  private func sendVirtually(_ payload: Span<UInt8>, to peer: Endpoint) -> Bool {
    let payload = Array(copying: payload)
    virtual?.send(sentRouting?.adding(to: payload) ?? payload, to: peer)
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
