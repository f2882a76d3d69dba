import CaromCore
import CaromProtocol
import CaromTransport

// The TCP streams of connections.
extension SessionNode {
  /// Accepts a stream that a peer has opened. `isSealed` is true if it is encrypted below the
  /// session, for example with TLS, and `code` is the join code that the peer has shown there. Call
  /// this on the node's loop. Returns the connection, or nil if the stream was refused and reset.
  @discardableResult
  package func accept(
    _ stream: TCPStream, isSealed: Bool = false, code: String? = nil
  ) -> ConnectionID? {
    // Streams that are being closed still use one file descriptor each.
    guard sockets.closing.count < Host.connectionLimit else {
      stream.reset()
      return nil
    }
    let connection = lobby.makeConnectionID()
    let now = loop.now
    let source = stream.peerEndpoint.address
    guard !isShutDown,
      lobby.host.accept(
        connection, from: source, isSealed: isSealed, isWebSocket: stream.isWebSocket, code: code,
        at: now)
    else {
      stream.reset()
      return nil
    }
    adopt(stream, as: connection)
    if let time = lobby.host.findStreamPause(at: now) { pauseAccepting(until: time) }
    return connection
  }

  /// Leaves new streams in the backlog until `time`, when the machine will accept streams again.
  /// Doors whose peers ask for a connection meanwhile wait, too.
  func pauseAccepting(until time: Instant) {
    if sockets.acceptingTimer?.deadline == nil { sockets.acceptingPauses += 1 }
    for listener in sockets.listeners { listener.setAccepting(false) }
    if sockets.acceptingTimer == nil {
      sockets.acceptingTimer = LoopTimer(on: loop, owner: self) { node in node.continueAccepting() }
    }
    sockets.acceptingTimer?.arm(at: time)
  }

  /// Lets the doors that wait in, then the streams in the backlog.
  private func continueAccepting() {
    while lobby.host.findStreamPause(at: loop.now) == nil {
      guard let door = sockets.doors.firstWaiting else {
        for listener in sockets.listeners { listener.setAccepting(true) }
        return
      }
      letIn(door)
    }
    if let time = lobby.host.findStreamPause(at: loop.now) { pauseAccepting(until: time) }
  }

  func adopt(_ stream: TCPStream, as connection: ConnectionID) {
    sockets.streams[connection] = stream
    stream.queueLimit = SessionLink.queueLimit
    stream.setHandler(owner: self) { node, event in
      switch event {
      case .bytes(let bytes): node.receive(bytes, on: connection)
      case .writable: node.drain()
      case .end: node.streamEnded(connection, .ended)
      case .closed(let error):
        let end = error == nil ? LinkEnd.ended : error == .timedOut ? .timedOut : .reset
        node.streamEnded(connection, end)
      }
    }
    drain()
  }

  /// The number of bytes received on streams in one turn of the loop after which the node drains
  /// without waiting for the end of the turn, so that few unread messages accumulate.
  private static let undrainedLimit = 16 << 10

  func receive(_ bytes: Span<UInt8>, on connection: ConnectionID) {
    bytesReceived += UInt64(bytes.count)
    updateWallClock()
    lobby.receive(bytes, on: connection, at: loop.now)
    turn.undrainedBytes += bytes.count
    // The stream of a connection that is not open may just have joined another connection. It is
    // moved at once: the end of that connection's old stream would otherwise be taken for the end
    // of this one, if it were handled first.
    guard lobby.isOpen(connection) else { return drain() }
    // One drain serves all streams that are readable in the same turn.
    if turn.undrainedBytes < Self.undrainedLimit { flushLater() } else { drain() }
  }

  private func streamEnded(_ connection: ConnectionID, _ end: LinkEnd) {
    guard let stream = sockets.streams.removeValue(forKey: connection) else { return }
    lobby.handleLinkEnd(end, of: connection, at: loop.now)
    dispose(of: stream, abruptly: false)
    drain()
  }

  /// Moves the stream of `connection` to `owner`, the connection for which the peer opened the
  /// stream, as the protocol has found.
  func move(streamOf connection: ConnectionID, to owner: ConnectionID) {
    guard let stream = sockets.streams.removeValue(forKey: connection) else { return }
    if let old = sockets.streams.removeValue(forKey: owner) { dispose(of: old, abruptly: true) }
    adopt(stream, as: owner)
  }

  /// Closes a stream that no longer belongs to a connection. The stream is closed after its queued
  /// bytes have been sent or, if `abruptly` is true, immediately.
  func dispose(of stream: TCPStream, abruptly: Bool) {
    let id = ObjectIdentifier(stream)
    sockets.closing[id] = stream
    stream.setHandler(owner: self) { node, event in
      guard case .closed = event else { return }
      node.sockets.closing[id] = nil
      node.resumeIfIdle()
    }
    if abruptly { stream.reset() } else { stream.close() }
    if !stream.isOpen { sockets.closing[id] = nil }
  }
}
