import CaromCore
import CaromGroup
import CaromProtocol
import CaromSession
import CaromTransport

/// Carries out the byte streams of all peers of one loop: it passes messages between the sessions
/// and the machines, and lets the tasks that read and write wait.
actor StreamHub: LoopActor {
  /// How long to wait before trying again to send, if the application has filled the session's
  /// queue.
  private static let retryInterval = Duration.milliseconds(5)

  private struct Link {
    let peer: Peer
    var machine = ByteStreams()
    var waiters: [StreamID: StreamWaiters] = [:]
    /// The streams whose owner has finished and released them. What arrives on them is ignored.
    var released: Set<StreamID> = []
    /// The message that the session had no room for.
    var waiting: ByteStreams.Transmit?
  }

  nonisolated let loop: NetworkLoop
  /// Nil once the hub is closed: streams that nobody has taken refer to the hub.
  private var incoming: AsyncStream<PeerStream>.Continuation?
  private var links: [ConnectionID: Link] = [:]
  private var retryTimer: LoopTimer?

  init(on loop: NetworkLoop, incoming: AsyncStream<PeerStream>.Continuation) {
    self.loop = loop
    self.incoming = incoming
  }

  /// Handles an event of the session.
  func handle(_ event: PeerEvent) {
    switch event {
    case .joined(let peer):
      if links[peer.connectionID] == nil { links[peer.connectionID] = Link(peer: peer) }
    case .left(let peer, _):
      let connection = peer.connectionID
      links[connection]?.machine.disconnect()
      links[connection]?.waiting = nil
      drain(connection)
      links[connection] = nil
    default: break
    }
  }

  /// Handles a message of a peer. Returns false if it violates the protocol.
  func receive(_ bytes: [UInt8], of peer: Peer, isData: Bool) -> Bool {
    let connection = peer.connectionID
    if links[connection] == nil { links[connection] = Link(peer: peer) }
    do throws(DecodeError) {
      if isData {
        try links[connection]?.machine.handleData(bytes.span)
      } else {
        try links[connection]?.machine.handleControl(bytes.span)
      }
    } catch { return false }
    drain(connection)
    return true
  }

  /// Resets all streams, and those that peers open from now on.
  func close() {
    incoming?.finish()
    incoming = nil
    for connection in links.keys.sorted() {
      for id in (links[connection]?.waiters.keys.sorted()) ?? [] { reset(id, connection) }
    }
  }
}

// MARK: - What the owner of a stream does
extension StreamHub {
  func open(_ name: String, to peer: Peer) throws(StreamFailure) -> PeerStream {
    let connection = peer.connectionID
    guard incoming != nil, links[connection] != nil else { throw .disconnected }
    guard let id = try links[connection]?.machine.open(name) else { throw .disconnected }
    links[connection]?.waiters[id] = StreamWaiters()
    drain(connection)
    return PeerStream(id, name, to: peer, in: self)
  }

  func write(
    _ bytes: [UInt8], to id: StreamID, _ connection: ConnectionID
  ) async throws(StreamFailure) {
    var written = 0
    while written < bytes.count {
      if Task.isCancelled { throw .cancelled }
      try check(id, connection)
      if links[connection]?.waiters[id]?.isFinished == true { throw .finished }
      let rest = bytes.span.extracting(written..<bytes.count)
      written += try links[connection]?.machine.write(rest, to: id) ?? 0
      drain(connection)
      if written < bytes.count { await waitToWrite(id, connection) }
    }
  }

  func finish(_ id: StreamID, _ connection: ConnectionID) {
    links[connection]?.waiters[id]?.isFinished = true
    links[connection]?.machine.finish(id)
    drain(connection)
  }

  func read(
    _ count: Int, from id: StreamID, _ connection: ConnectionID
  ) async throws(StreamFailure) -> [UInt8]? {
    while true {
      if Task.isCancelled { throw .cancelled }
      if links[connection]?.waiters[id]?.hasReadEnd == true { return nil }
      try check(id, connection)
      let bytes = try links[connection]?.machine.read(count, from: id, at: loop.now)
      drain(connection)
      guard let bytes else {
        links[connection]?.waiters[id]?.hasReadEnd = true
        return nil
      }
      if !bytes.isEmpty { return bytes }
      await waitToRead(id, connection)
    }
  }

  /// Throws the failure of a stream that was reset, or whose connection has ended.
  private func check(_ id: StreamID, _ connection: ConnectionID) throws(StreamFailure) {
    guard let waiters = links[connection]?.waiters[id] else { throw .disconnected }
    if let failure = waiters.failure { throw failure }
  }

  private func waitToWrite(_ id: StreamID, _ connection: ConnectionID) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // The stream may have got room, or the task been cancelled, before this closure ran.
        guard !Task.isCancelled, links[connection]?.machine.hasRoom(id) == false,
          links[connection]?.waiters[id] != nil
        else { return continuation.resume() }
        precondition(
          links[connection]?.waiters[id]?.writer == nil, "one task at a time writes to a stream")
        links[connection]?.waiters[id]?.writer = continuation
      }
    } onCancel: {
      loop.post { self.assumeIsolated { $0.links[connection]?.waiters[id]?.resumeWriter() } }
    }
  }

  private func waitToRead(_ id: StreamID, _ connection: ConnectionID) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard !Task.isCancelled, links[connection]?.machine.isReadable(id) == false,
          links[connection]?.waiters[id] != nil
        else { return continuation.resume() }
        precondition(
          links[connection]?.waiters[id]?.reader == nil, "one task at a time reads a stream")
        links[connection]?.waiters[id]?.reader = continuation
      }
    } onCancel: {
      loop.post { self.assumeIsolated { $0.links[connection]?.waiters[id]?.resumeReader() } }
    }
  }

  /// Resets a stream from any thread.
  nonisolated func postReset(_ id: StreamID, _ connection: ConnectionID) {
    loop.post { self.assumeIsolated { $0.reset(id, connection) } }
  }

  /// Forgets a stream that its owner has released, from any thread.
  nonisolated func postRelease(_ id: StreamID, _ connection: ConnectionID) {
    loop.post { self.assumeIsolated { $0.release(id, connection) } }
  }

  private func release(_ id: StreamID, _ connection: ConnectionID) {
    guard let waiters = links[connection]?.waiters.removeValue(forKey: id) else { return }
    guard waiters.failure == nil, waiters.isFinished, !waiters.hasReadEnd else {
      if !waiters.isFinished { links[connection]?.machine.reset(id) }
      return drain(connection)
    }
    links[connection]?.released.insert(id)
    discard(id, connection)
    drain(connection)
  }

  /// Ignores what has arrived on a released stream.
  private func discard(_ id: StreamID, _ connection: ConnectionID) {
    guard links[connection]?.released.contains(id) == true else { return }
    do throws(StreamFailure) {
      while let bytes = try links[connection]?.machine.read(.max, from: id, at: loop.now) {
        if bytes.isEmpty { return }
      }
    } catch {}
    links[connection]?.released.remove(id)
  }

  private func reset(_ id: StreamID, _ connection: ConnectionID) {
    fail(id, .reset, connection)
    links[connection]?.machine.reset(id)
    drain(connection)
  }

  private func fail(_ id: StreamID, _ failure: StreamFailure, _ connection: ConnectionID) {
    guard links[connection]?.waiters[id] != nil else { return }
    links[connection]?.waiters[id]?.failure = failure
    links[connection]?.waiters[id]?.resumeReader()
    links[connection]?.waiters[id]?.resumeWriter()
  }
}

// MARK: - The machines
extension StreamHub {
  private func drain(_ connection: ConnectionID) {
    while let event = links[connection]?.machine.pollEvent() { carryOut(event, connection) }
    while let message = links[connection]?.waiting ?? links[connection]?.machine.pollTransmit() {
      links[connection]?.waiting = message
      guard send(message, connection) else { break }
      links[connection]?.waiting = nil
    }
    // Sending makes room, which the machine reports.
    while let event = links[connection]?.machine.pollEvent() { carryOut(event, connection) }
  }

  /// Gives a message to the session. Returns false if it has to wait.
  private func send(_ message: ByteStreams.Transmit, _ connection: ConnectionID) -> Bool {
    guard let peer = links[connection]?.peer else { return false }
    do throws(SendError) {
      switch message {
      case .control(let bytes): try peer.sendNow(bytes, on: .streams)
      case .data(let bytes):
        let length = bytes.count
        try peer.sendNow(bytes, on: .streamBytes) { [weak self] in
          self?.assumeIsolated { $0.didDeliver(length, connection) }
        }
      }
      return true
    } catch {
      // Without a connection, the event that the peer has left follows.
      if case .queueFull = error { retryLater() }
      return false
    }
  }

  private func didDeliver(_ length: Int, _ connection: ConnectionID) {
    links[connection]?.machine.didDeliver(length)
    drain(connection)
  }

  private func retryLater() {
    if retryTimer == nil {
      retryTimer = LoopTimer(on: loop, owner: self) { hub in
        for connection in hub.links.keys.sorted() { hub.drain(connection) }
      }
    }
    retryTimer?.arm(at: loop.now + Self.retryInterval)
  }

  private func carryOut(_ event: StreamEvent, _ connection: ConnectionID) {
    switch event {
    case .opened(let id, let name):
      guard let incoming, let peer = links[connection]?.peer else {
        links[connection]?.machine.reset(id)
        return
      }
      links[connection]?.waiters[id] = StreamWaiters()
      incoming.yield(PeerStream(id, name, to: peer, in: self))
    case .readable(let id):
      links[connection]?.waiters[id]?.resumeReader()
      discard(id, connection)
    case .writable(let id): links[connection]?.waiters[id]?.resumeWriter()
    case .reset(let id, let failure):
      fail(id, failure, connection)
      links[connection]?.released.remove(id)
    case .canOpen: break
    }
  }
}
