import CUVLoop
import CaromCore

/// A TCP connection: bytes in order both ways, each way ended by itself.
///
/// It reads nothing until it has a handler. Belongs to the loop's thread; dropping it closes it at
/// once, or, after `close`, lets it finish by itself. `TCP_NODELAY` is on.
public final class TCPStream {
  /// Bytes that may wait to be sent, unless `queueLimit` says otherwise.
  public static let defaultQueueLimit = 1 << 20
  /// How long `close` waits for a peer to take what is queued; then it resets.
  public static let closeLimit = Duration.seconds(5)
  /// How long a closed stream waits for the peer's FIN, so that unread bytes of the peer do not
  /// turn into a reset that loses our last ones.
  public static let lingerLimit = Duration.seconds(1)

  /// The loop that it lives on.
  public let loop: NetworkLoop
  private let core: StreamCore

  /// Takes over a connected descriptor.
  init(on loop: NetworkLoop, descriptor: Int32, peer: Endpoint) throws(TransportError) {
    guard let open = unsafe loop.core.handle, loop.core.isOpen else {
      cuv_descriptor_close(descriptor)
      throw .closed
    }
    // The context is set for good when the core takes over; nothing calls back before.
    var out: OpaquePointer?
    try check(
      unsafe cuv_stream_create(open, descriptor, loop.core.context, { _, _, _, _, _ in }, &out),
      "open a stream")
    self.loop = loop
    core = try unsafe StreamCore(core: loop.core, taking: out!, peer: peer)
  }

  /// Takes over a stream of the C layer.
  init(on loop: NetworkLoop, taking handle: OpaquePointer, peer: Endpoint) throws(TransportError) {
    self.loop = loop
    core = try unsafe StreamCore(core: loop.core, taking: handle, peer: peer)
  }

  deinit { loop.core.release(core) }

  /// Our end.
  public var localEndpoint: Endpoint { core.local }
  /// The peer's end.
  public var peerEndpoint: Endpoint { core.peer }
  /// Whether the connection still exists, perhaps half.
  public var isOpen: Bool { core.isOpen }
  /// Whether the peer said that it sends no more.
  public var hasEnded: Bool { core.hasEnded }
  /// Bytes that wait to be sent.
  public var queuedBytes: Int { core.queuedBytes }

  /// Bytes that may wait to be sent before `write` throws `queueFull`.
  public var queueLimit: Int {
    get { core.queueLimit }
    set { core.queueLimit = newValue }
  }

  /// Events go to `handle` from now on; `nil` stops reading. No byte is lost or told twice.
  public func setHandler(_ handle: ((borrowing TCPEvent) -> Void)?) {
    loop.preconditionCurrent("a stream")
    core.setHandler(handle)
  }

  /// Events arrive inside `owner`, an actor whose executor is the loop, held weakly.
  public func setHandler<Owner: Actor>(
    owner: isolated Owner, _ handle: @escaping (isolated Owner, borrowing TCPEvent) -> Void
  ) {
    let handle = ActorCallbacks(owner, on: loop).bind(handle)
    setHandler(handle)
  }

  /// Sends `bytes` after what was written before, all or nothing.
  ///
  /// Throws `queueFull` when they do not fit beside what waits (a single write over the limit is
  /// taken when nothing waits), `closed` after `close` or `shutdownWrite`, and else why the
  /// connection broke.
  public func write(_ bytes: Span<UInt8>) throws(TransportError) {
    loop.preconditionCurrent("a stream")
    try core.write(bytes)
  }

  /// Sends `bytes` after what was written before, all or nothing.
  public func write(_ bytes: [UInt8]) throws(TransportError) { try write(bytes.span) }

  /// No `bytes` events until `resumeReading`: the peer is held back by the system.
  public func pauseReading() {
    loop.preconditionCurrent("a stream")
    core.setReading(paused: true)
  }

  /// Reads on.
  public func resumeReading() {
    loop.preconditionCurrent("a stream")
    core.setReading(paused: false)
  }

  /// Half-close: sends what is queued, then FIN; the peer may still send.
  public func shutdownWrite() {
    loop.preconditionCurrent("a stream")
    core.shutdownWrite()
  }

  /// Sends what is queued, then closes; the one event that follows is `closed`.
  public func close() {
    loop.preconditionCurrent("a stream")
    core.closeGracefully()
  }

  /// Drops the connection at once with an RST; the one event that follows is `closed(.closed)`.
  public func reset() {
    loop.preconditionCurrent("a stream")
    core.reset()
  }
}

// To another loop
extension TCPStream {
  /// Takes the connection off this loop; `init(on:attaching:)` opens it on another one, whose
  /// first bytes are those that follow the last that were told here. Nothing is told here any more.
  ///
  /// Throws `closed` when it is, and a system error while something waits to be sent.
  public func detach() throws(TransportError) -> DetachedStream {
    loop.preconditionCurrent("a stream")
    return DetachedStream(try core.detach(), peer: peerEndpoint)
  }

  /// Opens a connection that was taken off another loop; on failure it is closed.
  public convenience init(
    on loop: NetworkLoop, attaching detached: DetachedStream
  ) throws(TransportError) {
    loop.preconditionCurrent("a stream")
    guard let descriptor = detached.take() else { throw .closed }
    try self.init(on: loop, descriptor: descriptor, peer: detached.peer)
  }
}

// Options of the system
extension TCPStream {
  /// Probes a silent peer after `idle`, then each `interval`; `count` lost ones break the stream
  /// with `timedOut`. Whole seconds; `nil` turns it off.
  public func setKeepAlive(
    idle: Duration?, interval: Duration = .seconds(1), count: Int = 3
  ) throws(TransportError) {
    let idle = idle.map { max(1, Int32(clamping: $0.components.seconds)) } ?? 0
    let interval = max(1, Int32(clamping: interval.components.seconds))
    try core.set("set keep-alive") {
      unsafe cuv_stream_keep_alive($0, idle, interval, Int32(clamping: count))
    }
  }

  /// Breaks the stream with `timedOut` when sent bytes stay unacknowledged for that long (Linux).
  public func setUserTimeout(_ timeout: Duration) throws(TransportError) {
    let milliseconds = UInt32(clamping: timeout.wholeNanoseconds / 1_000_000)
    try core.set("set the user timeout") { unsafe cuv_stream_user_timeout($0, milliseconds) }
  }

  /// Asks for a buffer of that many bytes in the system for what is sent.
  public func setSendBuffer(_ bytes: Int) throws(TransportError) {
    try core.set("set the send buffer") {
      unsafe cuv_stream_send_buffer($0, Int32(clamping: bytes))
    }
  }
}
