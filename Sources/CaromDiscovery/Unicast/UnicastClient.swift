import CaromCore
import CaromDNS
import CaromTransport

/// Queries name servers. Each attempt uses a UDP socket with its own port; answers that do not fit
/// into a datagram are requested over TCP.
package actor UnicastClient: LoopActor {
  /// The default time limit of a query, including all attempts.
  package static let defaultTimeLimit = Duration.seconds(10)
  /// The maximum length of a received datagram, in bytes. Servers send at most 512 bytes unless a
  /// query permits more, which this client's queries do not.
  static let datagramLimit = 4096

  package nonisolated let loop: NetworkLoop
  private var resolver = UnicastResolver(generator: SystemRandomNumberGenerator())
  private var sockets: [UnicastFlow: UDPSocket] = [:]
  private var streams: [UnicastFlow: TCPStream] = [:]
  private var connecting: [UnicastFlow: Task<Void, Never>] = [:]
  private var timer: LoopTimer?
  private var hook: ShutdownHook?
  private var isClosed = false
  /// A closure that returns the time on the wall clock in seconds since the beginning of 1970.
  private var time: @Sendable () -> UInt64 = { WallClock.seconds }
  private var continuations:
    [UnicastQueryID: CheckedContinuation<Result<Reply, UnicastError>, Never>] = [:]

  /// The successful result of a query or an update.
  private enum Reply: Sendable {
    case answer(UnicastAnswer)
    case updated(serverTime: UInt64)
  }

  /// Creates a client that runs on `loop`.
  package init(on loop: NetworkLoop) { self.loop = loop }

  /// Replaces the wall clock by which updates are signed. Tests use it.
  package func use(_ time: @escaping @Sendable () -> UInt64) { self.time = time }

  /// Queries `servers` for the records of `type` under `name`.
  package func ask(
    _ name: Name, _ type: RecordType, of servers: [Endpoint],
    within limit: Duration = UnicastClient.defaultTimeLimit
  ) async throws(UnicastError) -> UnicastAnswer {
    let reply = try await perform { client, id throws(UnicastError) in
      try client.resolver.ask(
        RecordKey(name, type), as: id, of: servers, deadline: client.loop.now + limit,
        at: client.loop.now)
    }
    guard case .answer(let answer) = reply else { throw .serverFailure }
    return answer
  }

  /// Sends an update, signed with `key`, to the first of `servers` that makes it, and returns the
  /// server's time in seconds since the beginning of 1970.
  package func update(
    _ update: DynamicUpdate, signedWith key: TransactionKey, at servers: [Endpoint],
    within limit: Duration = UnicastClient.defaultTimeLimit
  ) async throws(UnicastError) -> UInt64 {
    let reply = try await perform { client, id throws(UnicastError) in
      try client.resolver.update(
        update, signedWith: key, time: client.time(), as: id, of: servers,
        deadline: client.loop.now + limit, at: client.loop.now)
    }
    guard case .updated(let serverTime) = reply else { throw .serverFailure }
    return serverTime
  }

  /// Starts a query or an update with `start`, and returns its result.
  private func perform(
    _ start: (isolated UnicastClient, UnicastQueryID) throws(UnicastError) -> Void
  ) async throws(UnicastError) -> Reply {
    let id = resolver.makeQueryID()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        continuations[id] = continuation
        // The query starts here, since other work of the loop may run before this closure does: a
        // query that failed at once would otherwise end before anybody waits for its result.
        do throws(UnicastError) {
          guard !Task.isCancelled else { throw .cancelled }
          try prepare()
          try start(self, id)
        } catch {
          finish(id, .failure(error))
        }
        drain()
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
    return try result.get()
  }

  private func prepare() throws(UnicastError) {
    guard !isClosed else { throw .closed }
    guard hook == nil else { return }
    timer = LoopTimer(on: loop, owner: self) { $0.timeout() }
    hook = ShutdownHook(on: loop) { [weak self] in self?.assumeIsolated { $0.loopWillShutDown() } }
  }

  /// Fails all open queries with `closed`, since the loop is about to shut down.
  private func loopWillShutDown() {
    isClosed = true
    for id in continuations.keys {
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

  private func finish(_ id: UnicastQueryID, _ result: Result<Reply, UnicastError>) {
    continuations.removeValue(forKey: id)?.resume(returning: result)
  }

  /// Polls the resolver until nothing is left: sends its messages, arms the timer, then completes
  /// the queries that have finished.
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
      case .answered(let id, let answer): finish(id, .success(.answer(answer)))
      case .updated(let id, let time): finish(id, .success(.updated(serverTime: time)))
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
