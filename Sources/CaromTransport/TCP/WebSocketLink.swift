import CaromCore

/// The WebSocket of a stream: it stands between the stream's bytes and the stream's handler.
final class WebSocketLink {
  /// The time without any byte from the peer after which a Ping frame is sent. After twice this
  /// time, the stream is closed with `timedOut`.
  static let silence = Duration.seconds(10)

  let frames: WebSocketFrames
  private let loop: NetworkLoop
  /// The stream's core, which lives at least as long as the link. A weak reference would slow down
  /// every access to it.
  private unowned let core: StreamCore
  /// The TLS that carries the WebSocket; nil if TCP carries it.
  private unowned let tls: TLSLink?
  private var timer: LoopTimer?
  private var lastReceived: Instant
  private var handler: TCPEventHandler?
  /// Whether the owner has closed or detached the stream. Another loop may use `frames` then.
  private var isEnded = false

  init(
    _ frames: WebSocketFrames, of core: StreamCore, through tls: TLSLink?, on loop: NetworkLoop
  ) {
    self.frames = frames
    self.core = core
    self.tls = tls
    self.loop = loop
    lastReceived = loop.now
    timer = LoopTimer(on: loop) { [weak self] in self?.checkSilence() }
    timer?.arm(at: lastReceived + Self.silence)
  }

  /// Replaces the handler. Returns the handler that the stream's core has to call instead of it.
  func bind(_ handler: TCPEventHandler?) -> TCPEventHandler? {
    self.handler = handler
    guard handler != nil else { return nil }
    if frames.isClosed { loop.post { [link = LoopBound(self)] in link.value.reportEnd() } }
    return TCPEventHandler { [self] event in
      switch event {
      case .bytes(let bytes): receive(bytes)
      case .closed:
        timer = nil
        handle(event)
      case .writable, .end: handle(event)
      }
    }
  }

  /// Ends the use of the frames, and returns them. Only `closed` is reported after that.
  @discardableResult
  func end() -> WebSocketFrames {
    isEnded = true
    timer = nil
    return frames
  }

  private func handle(_ event: borrowing TCPEvent) {
    let handler = handler
    handler?.call(event)
  }

  private func reportEnd() { if !isEnded { handle(.end) } }

  private func receive(_ bytes: Span<UInt8>) {
    guard !isEnded, !frames.isClosed else { return }
    lastReceived = loop.now
    loop.core.withScratch { payload in
      var replies: [UInt8] = []
      frames.receive(bytes, into: &payload, replies: &replies)
      // The owner may detach the stream when it handles the payload.
      let hasClosed = frames.isClosed
      if !replies.isEmpty {
        // A peer that sends pings and reads no pongs fills the queue, and loses the stream.
        do throws(TransportError) { try send(replies.span) } catch { core.fail(error) }
      }
      if !payload.isEmpty { handle(.bytes(payload.span)) }
      if hasClosed { reportEnd() }
    }
  }

  private func send(_ bytes: Span<UInt8>) throws(TransportError) {
    if let tls { try tls.write(bytes) } else { try core.write(bytes) }
  }

  private func checkSilence() {
    let now = loop.now
    guard !isEnded, !frames.isClosed else { return }
    if now - lastReceived >= Self.silence * 2 { return core.fail(.timedOut) }
    if now - lastReceived < Self.silence {
      timer?.arm(at: lastReceived + Self.silence)
      return
    }
    if let ping = frames.makePing() {
      do throws(TransportError) { try send(ping.span) } catch { return }
    }
    timer?.arm(at: lastReceived + Self.silence * 2)
  }
}
