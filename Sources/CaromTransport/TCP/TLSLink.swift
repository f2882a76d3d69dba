import CaromCore

/// The TLS of a stream: it stands between the stream's bytes and what uses the stream, either its
/// handler or a WebSocket.
final class TLSLink {
  let session: TLSSession
  private let loop: NetworkLoop
  /// The stream's core, which lives at least as long as the link. A weak reference would slow down
  /// every access to it.
  private unowned let core: StreamCore
  private var handler: TCPEventHandler?
  /// Whether the owner has closed or detached the stream. Another loop may use `session` then.
  private var isReleased = false
  private var hasReportedEnd = false

  init(_ session: TLSSession, of core: StreamCore, on loop: NetworkLoop) {
    self.session = session
    self.core = core
    self.loop = loop
  }

  /// Replaces the handler. Returns the handler that the stream's core has to call instead of it.
  func bind(_ handler: TCPEventHandler?) -> TCPEventHandler? {
    self.handler = handler
    guard handler != nil else { return nil }
    if session.status == .ended { loop.post { [link = LoopBound(self)] in link.value.reportEnd() } }
    return TCPEventHandler { [self] event in
      switch event {
      case .bytes(let bytes): receive(bytes)
      case .end: reportEnd()
      case .writable, .closed: handle(event)
      }
    }
  }

  /// Handles bytes that were received.
  func receive(_ bytes: Span<UInt8>) {
    guard !isReleased, session.status == .open else { return }
    let isHandshake = !session.isEstablished
    let plaintext = session.receive(bytes)
    // A peer that demands answers and reads none fills the queue, and loses the stream.
    do throws(TransportError) { try flush() } catch { core.fail(error) }
    if isHandshake, session.isEstablished, session.isClient { handle(.writable) }
    if !plaintext.isEmpty { handle(.bytes(plaintext.span)) }
    switch session.status {
    case .open: break
    case .ended: reportEnd()
    case .failed where isReleased: break
    // The peer learns the reason from the alert, which a reset could destroy.
    case .failed where !session.isEstablished:
      core.closeGracefully()
      if session.isClient { reportEnd() }
    case .failed: core.fail(.connectionReset)
    }
  }

  /// Encrypts and sends all of `bytes`, as `StreamCore.write` sends them.
  func write(_ bytes: Span<UInt8>, beyondLimit excess: Int = 0) throws(TransportError) {
    guard !isReleased else { throw .closed }
    try core.checkRoom(for: bytes.count - excess)
    guard session.write(bytes) else { throw .closed }
    // What encryption adds needs no room.
    try session.removeOutput { (output) throws(TransportError) in
      try core.write(output, beyondLimit: output.count)
    }
  }

  /// Tells the peer that nothing more will be sent.
  func finish() {
    guard !isReleased else { return }
    session.finish()
    // A stream that is broken needs no end.
    do throws(TransportError) {
      try session.removeOutput { (output) throws(TransportError) in
        try core.write(output, beyondLimit: output.count)
      }
    } catch {}
  }

  /// Ends the use of the session, and returns it. Only `closed` is reported after that.
  @discardableResult
  func release() -> TLSSession {
    isReleased = true
    return session
  }

  /// Writes what the TLS session has encrypted to the stream.
  func flush() throws(TransportError) {
    try session.removeOutput { (output) throws(TransportError) in try core.write(output) }
  }

  private func handle(_ event: borrowing TCPEvent) {
    let handler = handler
    handler?.call(event)
  }

  private func reportEnd() {
    guard !isReleased, !hasReportedEnd else { return }
    hasReportedEnd = true
    handle(.end)
  }
}
