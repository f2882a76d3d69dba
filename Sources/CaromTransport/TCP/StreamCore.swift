import CUVLoop
import CaromCore

/// A TCP stream's resources, held by the loop until they are closed.
@safe final class StreamCore: LoopResource {
  private enum Phase {
    case open
    /// The owner has closed the stream. The queued bytes are being sent, followed by FIN.
    case finishing
    /// All bytes and FIN have been sent. The stream waits for the peer's FIN and discards received
    /// data.
    case lingering
    case closed
  }

  private var handle: StreamHandle?
  private var handler: TCPEventHandler?
  private var phase = Phase.open
  private var hasSentFIN = false
  private var wasOverHalf = false
  /// The error of a `closed` event that has not been reported yet. The outer optional is nil if
  /// there is no such event.
  private var unreportedEnd: TransportError??
  private var limitTimer: TimerCore?
  private(set) var hasEnded = false
  private(set) var isWriteShut = false
  private(set) var isReadingPaused = false
  let local: Endpoint
  let peer: Endpoint
  var queueLimit = TCPStream.defaultQueueLimit

  /// Creates a core that owns the open stream `handle`. The stream is closed if initialization
  /// fails.
  init(core: LoopCore, taking handle: StreamHandle, peer: Endpoint) throws(TransportError) {
    // The system no longer provides the peer's address once the connection is broken.
    self.peer = peer
    do throws(TransportError) {
      local = try handle.local()
    } catch {
      handle.destroy(reset: true)
      throw error
    }
    super.init(core: core)
    self.handle = handle
    switch handle {
    case .system(let stream): unsafe receiveEvents(of: stream)
    case .virtual(let end): end.setHandler { [weak self] event in self?.receive(event) }
    }
    didOpen()
  }

  private func receiveEvents(of stream: OpaquePointer) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe cuv_stream_set_context(
      stream, context,
      { context, event, bytes, count, error in
        let core = unsafe Unmanaged<StreamCore>.fromOpaque(context).takeUnretainedValue()
        unsafe core.receive(event, bytes, count, error)
      })
  }

  // Events from C and from simulated streams

  private func receive(_ event: VirtualStreamEvent) {
    switch event {
    case .bytes(let bytes): if phase == .open { emit(.bytes(bytes.span)) }
    case .end: receiveEnd()
    case .sent: receiveSent()
    case .reset:
      destroy(reset: false)
      finish(.connectionReset)
    }
  }

  private func receive(
    _ event: cuv_stream_event, _ bytes: UnsafePointer<UInt8>?, _ count: Int, _ error: Int32
  ) {
    switch event {
    case CUV_STREAM_BYTES:
      guard phase == .open else { return }
      emit(.bytes(unsafe Span(_unsafeStart: bytes!, count: count)))
    case CUV_STREAM_END: receiveEnd()
    case CUV_STREAM_SENT: receiveSent()
    default:
      destroy(reset: true)  // a FIN would tell the peer that it has received everything
      finish(TransportError(status: error, "use a stream"))
    }
  }

  private func receiveEnd() {
    hasEnded = true
    switch phase {
    case .open: emit(.end)
    case .lingering: finish(nil)
    case .finishing, .closed: break
    }
  }

  private func receiveSent() {
    if queuedBytes == 0 { didDrain() }
    guard phase == .open, wasOverHalf, queuedBytes <= queueLimit / 2 else { return }
    wasOverHalf = false
    emit(.writable)
  }

  /// Sends FIN if it was requested, now that the queue is empty.
  private func didDrain() {
    guard isWriteShut, !hasSentFIN, let handle else { return }
    hasSentFIN = true
    let status = handle.shutdown()
    if status != 0 { return finishLater(TransportError(status: status, "close a stream")) }
    if phase == .finishing { linger() }
  }

  private func linger() {
    phase = .lingering
    if hasEnded { return finishLater(nil) }
    limitTimer?.arm(at: core.now + TCPStream.lingerLimit)
    updateReading()
  }

  private func timeLimitExpired() {
    if phase == .lingering { return finish(nil) }
    destroy(reset: true)
    finish(.timedOut)
  }

  // Closing

  override func didClose() {
    destroy(reset: false)
    phase = .closed
    limitTimer?.close()
    limitTimer = nil
    core.didCloseDescriptor()
  }

  private func destroy(reset: Bool) {
    guard let open = handle else { return }
    handle = nil
    open.destroy(reset: reset)
  }

  /// Closes the stream and reports `closed` at once. For use in callbacks from the loop.
  private func finish(_ error: TransportError?) {
    guard phase != .closed else { return }
    close()
    unreportedEnd = .some(error)
    reportClosed()
  }

  /// Closes the stream at once, and reports `closed` in a later job on the loop, so that the
  /// owner's call returns first.
  private func finishLater(_ error: TransportError?) {
    guard phase != .closed else { return }
    close()
    unreportedEnd = .some(error)
    core.enqueue(.call { [self] in reportClosed() })
  }

  private func reportClosed() {
    guard let error = unreportedEnd, let handler else { return }
    unreportedEnd = nil
    self.handler = nil
    handler.call(.closed(error))
  }

  private func emit(_ event: borrowing TCPEvent) {
    let handler = handler
    handler?.call(event)
  }

  override func handleReleased() {
    handler = nil
    if phase == .open { close() }
  }

  override func shutDown() { finish(.closed) }

  // Calls from the owner

  func setHandler(_ handler: TCPEventHandler?) {
    self.handler = handler
    if unreportedEnd != nil { core.enqueue(.call { [self] in reportClosed() }) }
    updateReading()
  }

  func setReading(paused: Bool) {
    isReadingPaused = paused
    updateReading()
  }

  private func updateReading() {
    guard let handle else { return }
    let isWanted = phase == .open ? handler != nil && !isReadingPaused : phase == .lingering
    handle.setReading(isWanted && !hasEnded)
  }

  var queuedBytes: Int { handle?.queuedBytes ?? 0 }

  /// Throws what `write` would throw before it sends any of `count` bytes.
  func checkRoom(for count: Int) throws(TransportError) {
    guard phase == .open, !isWriteShut, handle != nil else { throw .closed }
    let queued = queuedBytes
    guard queued == 0 || queued + count <= queueLimit else {
      wasOverHalf = true
      throw .queueFull
    }
  }

  /// Sends or queues `bytes`. The last `excess` bytes of them need no room in the queue.
  func write(_ bytes: Span<UInt8>, beyondLimit excess: Int = 0) throws(TransportError) {
    try checkRoom(for: bytes.count - excess)
    guard let handle else { throw .closed }
    let status = handle.write(bytes)
    if queuedBytes > queueLimit / 2 { wasOverHalf = true }
    guard status < 0 else { return }
    let error = TransportError(status: status, "write to a stream")
    destroy(reset: true)  // a FIN would tell the peer that it has received everything
    finishLater(error)
    throw error
  }

  func shutdownWrite() {
    guard phase == .open, !isWriteShut else { return }
    isWriteShut = true
    if queuedBytes == 0 { didDrain() }
  }

  func closeGracefully() {
    guard phase == .open else { return }
    phase = .finishing
    limitTimer = TimerCore(core: core) { [weak self] in self?.timeLimitExpired() }
    limitTimer?.arm(at: core.now + TCPStream.closeLimit)
    updateReading()
    isWriteShut = true
    if hasSentFIN { return linger() }
    if queuedBytes == 0 { didDrain() }
  }

  func reset() { fail(.closed) }

  /// Resets the connection at once, and reports `closed` with `error`.
  func fail(_ error: TransportError) {
    guard phase != .closed else { return }
    destroy(reset: true)
    finishLater(error)
  }

  /// Releases the descriptor and returns it. No further event is reported.
  func detach() throws(TransportError) -> Int32 {
    guard phase == .open, !isWriteShut, let open = handle else { throw .closed }
    let descriptor = open.detach()
    try check(descriptor, "hand a stream over")
    handle = nil
    handler = nil
    close()
    return descriptor
  }

  /// Calls a C function with the open stream. Throws `closed` if the stream is closed, or the error
  /// that the function returns.
  @safe func set(_ operation: StaticText, _ body: (OpaquePointer) -> Int32) throws(TransportError) {
    guard let handle else { throw .closed }
    try check(unsafe handle.set(body), operation)
  }
}
