import Carom

/// One guest for each match of a server, all on one loop.
actor FramesClients<World: FramesWorld>: LoopActor {
  private struct Guest {
    let node: SessionNode?
    var link: ConnectionID?
    let stream: TCPStream?
    var cutter: FramesCutter
    var latest: World.State?
  }

  nonisolated let loop: NetworkLoop
  private let setup: FramesSetup
  private var guests: [Guest] = []
  private var ticker: Ticker?
  private var tick: UInt64 = 0
  private var ages: [Duration] = []

  init(_ setup: FramesSetup, on loop: NetworkLoop) {
    self.setup = setup
    self.loop = loop
    ages.reserveCapacity(setup.matches * setup.ticks)
  }

  /// Takes every seat of the server.
  func join(port: UInt16) async throws {
    let server = [Endpoint(.loopback4, port: port)]
    for number in 0..<setup.matches {
      switch setup.carrier {
      case .session: try await sitDown(number, server)
      case .bare: try await connect(number, server)
      }
    }
  }

  private func sitDown(_ number: Int, _ server: [Endpoint]) async throws {
    let node = SessionNode(FramesWire.peer(number + 1), seats: 0, timing: setup.timing, on: loop)
    guests.append(Guest(node: node, stream: nil, cutter: FramesCutter(length: 0)))
    await node.setHandler(owner: self) { clients, event in
      if case .message(_, _, let bytes) = event { clients.receive(bytes.span, as: number) }
    }
    guests[number].link = try await node.connect(to: server)
  }

  private func connect(_ number: Int, _ server: [Endpoint]) async throws {
    let stream = try await TCPStream.connect(to: server, on: loop)
    var world = World(index: 0, entities: setup.entities)
    let length = FramesWire.bare(world.step(at: .zero)).count
    guests.append(Guest(node: nil, stream: stream, cutter: FramesCutter(length: length)))
    stream.setHandler(owner: self) { clients, event in
      if case .bytes(let bytes) = event { clients.receive(stream: bytes, as: number) }
    }
  }

  private func receive(stream bytes: Span<UInt8>, as number: Int) {
    var cutter = guests[number].cutter
    cutter.receive(bytes) { receive($0, as: number) }
    guests[number].cutter = cutter
  }

  private func receive(_ message: Span<UInt8>, as number: Int) {
    guard let state = try? World.State(decoding: message) else { return }
    let stamp = World.stamp(of: state)
    let first = FramesSetup.warmUpTicks + 1
    if (first..<first + setup.ticks).contains(Int(stamp.tick)) {
      ages.append(loop.now - stamp.clock)
    }
    guests[number].latest = state
    if setup.pace == .lockstep { sendInput(of: number) }
  }

  /// Sends each guest's input 60 times a second, or as an answer to each state.
  func begin() {
    guard setup.pace == .hertz else { return }
    ticker = Ticker(on: loop, owner: self, hertz: FramesSetup.hertz) { clients, _ in
      clients.sendInputs()
    }
  }

  private func sendInputs() {
    for number in guests.indices { sendInput(of: number) }
  }

  private func sendInput(of number: Int) {
    let guest = guests[number]
    tick += 1
    let input = World.input(tick, seeing: guest.latest, at: loop.now)
    if let node = guest.node, let link = guest.link {
      node.assumeIsolated { try? $0.send(input, on: .inputs, to: link) }
    } else {
      try? guest.stream?.write(FramesWire.bare(input))
    }
  }

  /// Stops, and says how old the states were when they came.
  func end() -> [Duration] {
    ticker?.stop()
    return ages
  }
}
