import Carom

/// The clients of all matches of one server, one for each match, on one loop.
actor FramesClients<World: FramesWorld>: LoopActor {
  private struct Client {
    let node: SessionNode?
    var connection: ConnectionID?
    let stream: TCPStream?
    var hasEnded = false
    var splitter: FramesSplitter
    var latest: World.State?
  }

  nonisolated let loop: NetworkLoop
  private let setup: FramesSetup
  private var clients: [Client] = []
  private var ticker: Ticker?
  private var tick: UInt64 = 0
  private var ages: [Duration] = []
  private var openStreams = 0
  private var finished: CheckedContinuation<Void, Never>?

  init(_ setup: FramesSetup, on loop: NetworkLoop) {
    self.setup = setup
    self.loop = loop
    ages.reserveCapacity(setup.matches * setup.ticks)
  }

  /// Connects one client for each match of the server.
  func join(port: UInt16) async throws {
    let server = [Endpoint(.loopback4, port: port)]
    for number in 0..<setup.matches {
      switch setup.carrier {
      case .session: try await joinSession(number, server)
      case .bare: try await openStream(number, server)
      }
    }
  }

  private func joinSession(_ number: Int, _ server: [Endpoint]) async throws {
    let node = SessionNode(FramesWire.peer(number + 1), seats: 0, timing: setup.timing, on: loop)
    clients.append(Client(node: node, stream: nil, splitter: FramesSplitter(length: 0)))
    await node.setHandler(owner: self) { clients, event in
      if case .message(_, _, let bytes) = event { clients.receive(bytes.span, as: number) }
    }
    do throws(SessionError) {
      clients[number].connection = try await node.connect(to: server)
    } catch {
      guard error == .refused(.timedOut) || error == .refused(.handshakeTimeout) else {
        throw error
      }
      throw FramesOverload(wanted: setup.matches, joined: number)
    }
  }

  private func openStream(_ number: Int, _ server: [Endpoint]) async throws {
    let stream = try await TCPStream.connect(to: server, on: loop)
    var world = World(index: 0, entities: setup.entities)
    let length = FramesWire.bare(world.step(at: .zero)).count
    clients.append(Client(node: nil, stream: stream, splitter: FramesSplitter(length: length)))
    openStreams += 1
    stream.setHandler(owner: self) { clients, event in
      switch event {
      case .bytes(let bytes): clients.receive(stream: bytes, as: number)
      case .end, .closed: clients.streamEnded(of: number)
      case .writable: break
      }
    }
  }

  private func streamEnded(of number: Int) {
    guard !clients[number].hasEnded else { return }
    clients[number].hasEnded = true
    clients[number].stream?.close()
    openStreams -= 1
    guard openStreams == 0 else { return }
    finished?.resume()
    finished = nil
  }

  private func receive(stream bytes: Span<UInt8>, as number: Int) {
    var splitter = clients[number].splitter
    splitter.receive(bytes) { receive($0, as: number) }
    clients[number].splitter = splitter
  }

  private func receive(_ message: Span<UInt8>, as number: Int) {
    guard let state = try? World.State(decoding: message) else { return }
    let stamp = World.stamp(of: state)
    let first = FramesSetup.warmUpTicks + 1
    if (first..<first + setup.ticks).contains(Int(stamp.tick)) {
      ages.append(loop.now - stamp.clock)
    }
    clients[number].latest = state
    if setup.pace == .lockstep { sendInput(of: number) }
  }

  /// Starts to send inputs: 60 times a second, or in lockstep one input in response to each state.
  func start() {
    guard setup.pace == .hertz else { return }
    ticker = Ticker(on: loop, owner: self, hertz: FramesSetup.hertz) { clients, _ in
      clients.sendInputs()
    }
  }

  private func sendInputs() {
    for number in clients.indices { sendInput(of: number) }
  }

  private func sendInput(of number: Int) {
    let client = clients[number]
    tick += 1
    let input = World.input(tick, seeing: client.latest, at: loop.now)
    if let node = client.node, let connection = client.connection {
      node.assumeIsolated { try? $0.send(input, on: .inputs, to: connection) }
    } else {
      try? client.stream?.write(FramesWire.bare(input))
    }
  }

  /// Stops sending inputs.
  func stop() { ticker?.stop() }

  /// Waits for the ends of the streams, which follow the states that are still in flight, and
  /// returns the age of each received state on its arrival. A session has received its states when
  /// the server has closed it.
  func finish() async -> [Duration] {
    if openStreams > 0 { await withCheckedContinuation { finished = $0 } }
    return ages
  }
}
