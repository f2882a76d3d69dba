import CUVLoop
import CaromCore

/// A TCP connection, whose two directions can be closed separately.
///
/// A stream reads nothing until it has a handler. `TCP_NODELAY` is set. Not `Sendable`: all members
/// must be used on the loop's thread. Releasing an open stream closes it at once; a stream that is
/// released after `close` still sends its queued bytes.
public final class TCPStream {
  /// The default value of `queueLimit`, in bytes.
  public static let defaultQueueLimit = 1 << 20
  /// How long a closed stream tries to send its queued bytes before it resets the connection.
  public static let closeLimit = Duration.seconds(5)
  /// How long a closed stream waits for the peer's FIN. Closing the socket with unread bytes would
  /// send a reset, which could make the peer discard this side's last bytes.
  public static let lingerLimit = Duration.seconds(1)

  /// The loop on whose thread the stream must be used.
  public let loop: NetworkLoop
  let core: StreamCore
  /// The WebSocket that carries the stream's bytes; nil if they are not in its messages.
  var webSocket: WebSocketLink?
  /// The TLS that carries the stream's bytes or its WebSocket; nil if TCP carries them as they are.
  var tls: TLSLink?

  /// Creates a stream that owns a connected descriptor. The descriptor is closed if initialization
  /// fails.
  init(on loop: NetworkLoop, descriptor: Int32, peer: Endpoint) throws(TransportError) {
    guard let open = unsafe loop.core.handle, loop.core.isOpen else {
      cuv_descriptor_close(descriptor)
      throw .closed
    }
    // `StreamCore` sets the final context and callback; no callback is made before.
    var out: OpaquePointer?
    try check(
      unsafe cuv_stream_create(open, descriptor, loop.core.context, { _, _, _, _, _ in }, &out),
      "open a stream")
    self.loop = loop
    core = try unsafe StreamCore(core: loop.core, taking: .system(out!), peer: peer)
  }

  /// Creates a stream that owns the given handle.
  init(on loop: NetworkLoop, taking handle: StreamHandle, peer: Endpoint) throws(TransportError) {
    self.loop = loop
    core = try StreamCore(core: loop.core, taking: handle, peer: peer)
  }

  deinit { loop.core.release(core) }

  /// The address and port of this end of the connection.
  public var localEndpoint: Endpoint { core.local }
  /// The peer's address and port.
  public var peerEndpoint: Endpoint { core.peer }
  /// Whether the stream is open, in at least one direction.
  public var isOpen: Bool { core.isOpen }
  /// Whether the peer has finished sending.
  public var hasEnded: Bool { core.hasEnded }
  /// The number of bytes in the send queue.
  public var queuedBytes: Int { core.queuedBytes }

  /// The limit of the send queue, in bytes. A `write` that would exceed the limit throws
  /// `queueFull`, unless the queue is empty. What a WebSocket and TLS add to the bytes needs no
  /// room.
  public var queueLimit: Int {
    get { core.queueLimit }
    set { core.queueLimit = newValue }
  }

  /// Sets the handler for further events, or stops reading if `handle` is nil. No byte is lost or
  /// delivered twice.
  public func setHandler(_ handle: ((borrowing TCPEvent) -> Void)?) {
    if let handle { use(TCPEventHandler(handle)) } else { use(nil) }
  }

  /// Sets a handler that is called isolated to `owner`, an actor whose executor is the loop. The
  /// stream holds `owner` weakly.
  public func setHandler<Owner: Actor>(
    owner: isolated Owner, _ handle: @escaping (isolated Owner, borrowing TCPEvent) -> Void
  ) {
    use(ActorCallbacks(owner, on: loop).bind(handle))
  }

  private func use(_ handler: TCPEventHandler?) {
    loop.preconditionCurrent("a stream")
    var handler = handler
    if let webSocket { handler = webSocket.bind(handler) }
    if let tls { handler = tls.bind(handler) }
    core.setHandler(handler)
  }

  /// Sends or queues all of `bytes`, after all bytes written earlier. On failure, none of `bytes`
  /// is sent.
  ///
  /// Throws `queueFull` if `bytes` do not fit into the send queue (an empty queue accepts any
  /// number of bytes), `closed` after `close` or `shutdownWrite`, and otherwise the error that
  /// ended the connection.
  public func write(_ bytes: Span<UInt8>) throws(TransportError) {
    loop.preconditionCurrent("a stream")
    guard let webSocket else { return try send(bytes, beyondLimit: 0) }
    try loop.core.withScratch { (frame) throws(TransportError) in
      guard webSocket.frames.appendMessage(bytes, to: &frame) else { throw .closed }
      try send(frame.span, beyondLimit: frame.count - bytes.count)
    }
  }

  private func send(_ bytes: Span<UInt8>, beyondLimit excess: Int) throws(TransportError) {
    if let tls {
      try tls.write(bytes, beyondLimit: excess)
    } else {
      try core.write(bytes, beyondLimit: excess)
    }
  }

  /// Sends or queues all of `bytes`, after all bytes written earlier. On failure, none of `bytes`
  /// is sent.
  public func write(_ bytes: [UInt8]) throws(TransportError) { try write(bytes.span) }

  /// Stops reading until `resumeReading`. TCP flow control then stops the peer.
  public func pauseReading() {
    loop.preconditionCurrent("a stream")
    core.setReading(paused: true)
  }

  /// Continues reading after `pauseReading`.
  public func resumeReading() {
    loop.preconditionCurrent("a stream")
    core.setReading(paused: false)
  }

  /// Closes the sending direction: sends the queued bytes, then FIN. The peer may still send.
  public func shutdownWrite() {
    loop.preconditionCurrent("a stream")
    tls?.finish()
    core.shutdownWrite()
  }

  /// Sends the queued bytes, then closes the stream. The only event that follows is `closed`.
  public func close() {
    loop.preconditionCurrent("a stream")
    if let frame = webSocket?.end().close() {
      let excess = frame.count + WebSocketFrames.longestHeader
      // A stream that is broken needs no Close frame.
      do throws(TransportError) { try send(frame.span, beyondLimit: excess) } catch {}
    }
    tls?.finish()
    tls?.release()
    core.closeGracefully()
  }

  /// Resets the connection at once (RST). The only event that follows is `closed(.closed)`.
  public func reset() {
    loop.preconditionCurrent("a stream")
    webSocket?.end()
    tls?.release()
    core.reset()
  }
}

// Moving to another loop
extension TCPStream {
  /// Detaches the connection from this loop, to be attached to another loop with
  /// `init(on:attaching:)`. The new stream continues with the first byte that this stream did not
  /// deliver. This stream reports no further event.
  ///
  /// Throws `closed` if the stream is closed, and a system error while the send queue is not empty.
  public func detach() throws(TransportError) -> DetachedStream {
    loop.preconditionCurrent("a stream")
    let descriptor = try core.detach()
    // From now on, these belong to the loop that attaches the connection.
    let (frames, session) = (webSocket?.end(), tls?.release())
    webSocket = nil
    tls = nil
    return DetachedStream(descriptor, frames, session, peer: peerEndpoint)
  }

  /// Creates a stream from a connection that was detached from another loop. The connection is
  /// closed on failure.
  public convenience init(
    on loop: NetworkLoop, attaching detached: DetachedStream
  ) throws(TransportError) {
    loop.preconditionCurrent("a stream")
    guard let descriptor = detached.removeDescriptor() else { throw .closed }
    try self.init(on: loop, descriptor: descriptor, peer: detached.peer)
    if let session = detached.tls { tls = TLSLink(session, of: core, on: loop) }
    if let frames = detached.webSocket {
      webSocket = WebSocketLink(frames, of: core, through: tls, on: loop)
    }
  }
}

// Socket options
extension TCPStream {
  /// Configures TCP keep-alive: after the connection has been idle for `idle`, sends a probe every
  /// `interval`, and closes the stream with `timedOut` after `count` unanswered probes. Durations
  /// are rounded down to whole seconds, at least one. If `idle` is nil, keep-alive is disabled.
  public func setKeepAlive(
    idle: Duration?, interval: Duration = .seconds(1), count: Int = 3
  ) throws(TransportError) {
    let idle = idle.map { max(1, Int32(clamping: $0.components.seconds)) } ?? 0
    let interval = max(1, Int32(clamping: interval.components.seconds))
    try core.set("set keep-alive") {
      unsafe cuv_stream_keep_alive($0, idle, interval, Int32(clamping: count))
    }
  }

  /// Closes the stream with `timedOut` if sent bytes stay unacknowledged for `timeout`, which is
  /// rounded down to whole milliseconds, at least one. Throws an error on systems other than Linux.
  public func setUserTimeout(_ timeout: Duration) throws(TransportError) {
    let milliseconds = max(1, Int32(clamping: timeout.wholeNanoseconds / 1_000_000))
    try core.set("set the user timeout") { unsafe cuv_stream_user_timeout($0, milliseconds) }
  }

  /// Sets the size of the kernel's send buffer, in bytes.
  public func setSendBuffer(_ bytes: Int) throws(TransportError) {
    try core.set("set the send buffer") {
      unsafe cuv_stream_send_buffer($0, Int32(clamping: bytes))
    }
  }
}
