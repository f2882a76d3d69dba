import CaromCore
import CaromDNS
import CaromTransport

/// Asks name servers: a socket with a port of its own for each try, a connection where an answer
/// is too long for a datagram.
package actor UnicastClient: LoopActor {
  /// How long a question may take in all.
  package static let patience = Duration.seconds(10)
  /// Bytes of the largest datagram that is read: more than any server sends that was not asked to.
  static let datagramLimit = 4096

  package nonisolated let loop: NetworkLoop
  private var resolver = UnicastResolver(generator: SystemRandomNumberGenerator())
  private var sockets: [UnicastFlow: UDPSocket] = [:]
  private var streams: [UnicastFlow: TCPStream] = [:]
  private var connecting: [UnicastFlow: Task<Void, Never>] = [:]
  private var timer: LoopTimer?
  private var hook: ShutdownHook?
  private var isClosed = false
  private var waiting:
    [UnicastQueryID: CheckedContinuation<Result<UnicastAnswer, UnicastError>, Never>] = [:]

  /// Asks nothing yet.
  package init(on loop: NetworkLoop) { self.loop = loop }

  /// What `servers` say of the records of `type` under `name`.
  package func ask(
    _ name: Name, _ type: RecordType, of servers: [Endpoint],
    within limit: Duration = UnicastClient.patience
  ) async throws(UnicastError) -> UnicastAnswer {
    guard !Task.isCancelled else { throw .cancelled }
    try begin()
    let now = loop.now
    let id = try resolver.ask(
      RecordKey(name, type), of: servers, deadline: now.advanced(by: limit), at: now)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting[id] = continuation
        drain()
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
    return try result.get()
  }

  private func begin() throws(UnicastError) {
    guard !isClosed else { throw .closed }
    guard hook == nil else { return }
    timer = LoopTimer(on: loop, owner: self) { $0.timeout() }
    hook = ShutdownHook(on: loop) { [weak self] in self?.assumeIsolated { $0.loopEnds() } }
  }

  /// The loop shuts down: whoever waits is told so.
  private func loopEnds() {
    isClosed = true
    for id in waiting.keys {
      resolver.cancel(id)
      finish(id, .failure(.closed))
    }
  }

  private func cancel(_ id: UnicastQueryID) {
    guard !isClosed else { return }
    resolver.cancel(id)
    drain()
    finish(id, .failure(.cancelled))
  }

  private func finish(_ id: UnicastQueryID, _ result: Result<UnicastAnswer, UnicastError>) {
    waiting.removeValue(forKey: id)?.resume(returning: result)
  }

  /// Sends what is to be sent, arms the timer, then tells what happened.
  private func drain() {
    while let step = resolver.pollTransmit() {
      switch step {
      case .datagram(let flow, let payload, let server): send(payload, to: server, as: flow)
      case .stream(let flow, let bytes, let server): connect(to: server, sending: bytes, as: flow)
      case .close(let flow): close(flow)
      }
    }
    if let next = resolver.nextTimeout { timer?.arm(at: next) } else { timer?.cancel() }
    while let event = resolver.pollEvent() {
      switch event {
      case .answered(let id, let answer): finish(id, .success(answer))
      case .failed(let id, let error): finish(id, .failure(error))
      }
    }
  }

  private func timeout() {
    resolver.handleTimeout(at: loop.now)
    drain()
  }
}

// MARK: - Flows

extension UnicastClient {
  private func send(_ payload: [UInt8], to server: Endpoint, as flow: UnicastFlow) {
    var options = UDPOptions()
    options.largestDatagram = Self.datagramLimit
    let local = Endpoint(server.address.isV6 ? .any6 : .any4, port: 0)
    guard
      let socket = try? UDPSocket(
        on: loop, owner: self, bind: local, options: options,
        { client, batch in client.receive(batch, on: flow) })
    else { return resolver.handleClosed(flow, at: loop.now) }
    sockets[flow] = socket
    socket.send(payload, to: server)
    socket.flush()
    if socket.lastSendError != nil { resolver.handleClosed(flow, at: loop.now) }
  }

  private func receive(_ batch: borrowing UDPBatch, on flow: UnicastFlow) {
    var datagrams: [Datagram] = []
    for index in batch.indices where !batch[index].isTruncated {
      datagrams.append(batch[index].copy())
    }
    for datagram in datagrams {
      resolver.handleDatagram(datagram.payload, from: datagram.source, on: flow, at: loop.now)
    }
    drain()
  }

  private func connect(to server: Endpoint, sending bytes: [UInt8], as flow: UnicastFlow) {
    connecting[flow] = Task {
      do throws(TransportError) {
        let stream = try await TCPStream.connect(to: [server], on: loop)
        guard connecting.removeValue(forKey: flow) != nil else { return stream.reset() }
        streams[flow] = stream
        stream.setHandler(owner: self) { client, event in client.handle(event, on: flow) }
        try stream.write(bytes)
      } catch {
        guard connecting.removeValue(forKey: flow) != nil || streams[flow] != nil else { return }
        resolver.handleClosed(flow, at: loop.now)
        drain()
      }
    }
  }

  private func handle(_ event: borrowing TCPEvent, on flow: UnicastFlow) {
    switch event {
    case .bytes(let bytes): resolver.handleBytes(Array(copying: bytes), on: flow, at: loop.now)
    case .end, .closed: resolver.handleClosed(flow, at: loop.now)
    case .writable: return
    }
    drain()
  }

  private func close(_ flow: UnicastFlow) {
    sockets.removeValue(forKey: flow)?.close()
    connecting.removeValue(forKey: flow)?.cancel()
    streams.removeValue(forKey: flow)?.close()
  }
}
