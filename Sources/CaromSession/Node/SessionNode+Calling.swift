import CaromCore
import CaromProtocol
import CaromTransport

// Calling, and what the sockets bring.
extension SessionNode {
  /// Connects to the first of `endpoints` that answers and asks for a seat there, over datagrams
  /// and a stream at the same time where both are wanted.
  ///
  /// Returns when the seat is granted. Cancelling the task gives the attempt up.
  public func connect(
    to endpoints: [Endpoint], within limit: Duration = .seconds(10)
  ) async throws(SessionError) -> ConnectionID {
    guard !isShutDown else { throw .transport(.cancelled) }
    let link = lobby.makeConnectionID()
    let failure = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiters[link] = continuation
        open(link, to: endpoints, within: limit)
      }
    } onCancel: {
      Task(executorPreference: loop) { await self.giveUp(link) }
    }
    if let failure { throw failure }
    return link
  }

  func giveUp(_ link: ConnectionID) {
    connecting.removeValue(forKey: link)?.cancel()
    close(link, Goodbye(.left))
    waiters.removeValue(forKey: link)?.resume(returning: .transport(.cancelled))
  }

  /// Opens the link that a `connect` event asked for; it may come to nothing.
  public func open(
    _ link: ConnectionID, to endpoints: [Endpoint], within limit: Duration = .seconds(5)
  ) {
    guard !isShutDown else { return }
    var generator = SystemRandomNumberGenerator()
    let key = ConnectionKey(using: &generator)
    keys[link] = key
    destinations[link] = endpoints
    var ways: [Route] = []
    if kinds.contains(.datagram) {
      for endpoint in endpoints {
        if let socket = socket(for: endpoint) { ways.append(Route(endpoint, socket: socket)) }
      }
    }
    let token = takeToken(of: ways.map(\.endpoint))
    let isCalling =
      !ways.isEmpty && lobby.connect(link, to: ways, key: key, token: token, at: loop.now)
    if kinds.contains(.stream) {
      connecting[link] = Task { await self.dial(link, to: endpoints, within: limit) }
    } else if !isCalling {
      connectFailed(link)
    }
    drain()
  }

  func dial(_ link: ConnectionID, to endpoints: [Endpoint], within limit: Duration) async {
    do throws(TransportError) {
      let stream = try await TCPStream.connect(to: endpoints, on: loop, deadline: limit)
      connecting[link] = nil
      let key = keys[link] ?? .none
      // The connection may have been refused meanwhile, over datagrams.
      guard !isShutDown, destinations[link] != nil,
        lobby.handleStreamConnected(link, key: key, at: loop.now)
      else { return stream.close() }
      adopt(stream, as: link)
    } catch {
      streamFailed(link, error)
    }
  }

  /// The link that a `connect` event asked for cannot be opened.
  public func connectFailed(_ link: ConnectionID) {
    connecting[link] = nil
    lobby.handleStreamFailed(link, at: loop.now)
    drain()
  }

  /// The stream cannot be opened; datagrams may still be answered, for a moment.
  func streamFailed(_ link: ConnectionID, _ error: TransportError) {
    connecting[link] = nil
    failures[link] = error
    connectFailed(link)
    if !lobby.host.contains(link) {
      waiters.removeValue(forKey: link)?.resume(returning: .transport(error))
    }
  }

  /// A peer was found, or says something new of itself.
  public func sighted(_ sighting: Sighting) {
    lobby.handle(sighting, at: loop.now)
    drain()
  }

  /// A peer is gone.
  public func lost(_ peer: PeerID) {
    lobby.handleRemoved(peer, at: loop.now)
    drain()
  }

  func adopt(_ stream: TCPStream, as link: ConnectionID) {
    streams[link] = stream
    stream.queueLimit = SessionLink.queueLimit
    stream.setHandler(owner: self) { node, event in
      switch event {
      case .bytes(let bytes): node.receive(bytes, on: link)
      case .writable: node.drain()
      case .end: node.linkEnded(link, .ended)
      case .closed(let error): node.linkClosed(link, error)
      }
    }
    drain()
  }

  func receive(_ bytes: Span<UInt8>, on link: ConnectionID) {
    bytesReceived += UInt64(bytes.count)
    lobby.receive(bytes, on: link, at: loop.now)
    drain()
  }

  func receive(_ batch: borrowing UDPBatch, on socket: Int) {
    let now = loop.now
    for index in batch.indices {
      let datagram = batch[index]
      guard !datagram.isTruncated else { continue }
      bytesReceived += UInt64(datagram.payload.count)
      lobby.receiveDatagram(
        datagram.payload, from: Route(datagram.source, socket: socket), at: now)
    }
    drain()
  }

  func linkClosed(_ link: ConnectionID, _ error: TransportError?) {
    linkEnded(link, error == .timedOut ? .timedOut : error == nil ? .ended : .reset)
  }

  func linkEnded(_ link: ConnectionID, _ end: LinkEnd) {
    guard let stream = streams.removeValue(forKey: link) else { return }
    lobby.handleLinkEnd(end, of: link, at: loop.now)
    part(with: stream, abruptly: false)
    drain()
  }
}
