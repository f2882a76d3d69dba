import BenchProbe
import Carom

/// A server that plays many matches on one loop: it ticks them, sends their states and receives
/// their inputs.
actor FramesServer<World: FramesWorld>: LoopActor {
  private struct Seat {
    var world: World
    let connection: ConnectionID?
    let stream: TCPStream?
    var splitter: FramesSplitter
  }

  nonisolated let loop: NetworkLoop
  private let setup: FramesSetup
  private let node: SessionNode
  private var listener: TCPListener?
  private var seats: [Seat] = []
  private var seatOf: [ConnectionID: Int] = [:]
  private var ticker: Ticker?
  private var ticks = 0
  private var begin = FramesServerFigures()
  private var figures = FramesServerFigures()
  private var startedAt = Instant.zero
  private var bareSent = 0
  private var bareReceived = 0
  private var inputs = 0
  private var states: [(connection: ConnectionID, state: World.State)] = []
  private var progressTimer: LoopTimer?
  /// The tick at the last check of the progress.
  private var checkedTick = 0
  private var finished: CheckedContinuation<FramesServerFigures, any Error>?

  init(_ setup: FramesSetup, on loop: NetworkLoop) {
    self.setup = setup
    self.loop = loop
    node = SessionNode(FramesWire.peer(0), seats: setup.matches, timing: setup.timing, on: loop)
    figures.lateness.reserveCapacity(setup.ticks)
  }

  /// Opens the server's listener and returns its port.
  func open() async throws -> UInt16 {
    switch setup.carrier {
    case .session:
      await node.setHandler(owner: self) { server, event in server.handle(event) }
      return try await node.listen(on: [.loopback4])
    case .bare:
      let listener = try TCPListener(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
        server, event in
        if case .accepted(let stream) = event { server.seat(connection: nil, stream) }
      }
      self.listener = listener
      return listener.localEndpoint.port
    }
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .requested(let connection, _, _): node.assumeIsolated { $0.admit(connection) }
    case .opened(let connection, _): seat(connection: connection, nil)
    case .message(let connection, _, let bytes):
      if let seat = seatOf[connection] { receive(message: bytes.span, from: seat) }
    case .closed(_, _, _, wasOpen: true): clientLost()
    default: break
    }
  }

  private func seat(connection: ConnectionID?, _ stream: TCPStream?) {
    let number = seats.count
    let length = FramesWire.bare(World.input(0, seeing: nil, at: .zero)).count
    seats.append(
      Seat(
        world: World(index: number, entities: setup.entities), connection: connection,
        stream: stream,
        splitter: FramesSplitter(length: length)))
    if let connection { seatOf[connection] = number }
    stream?.setHandler(owner: self) { server, event in
      switch event {
      case .bytes(let bytes): server.receive(bytes, from: number)
      case .end: server.clientLost()
      case .writable, .closed: break
      }
    }
  }

  private func clientLost() {
    figures.lostClients += 1
    if setup.pace == .lockstep { stall() }
  }

  private func receive(_ bytes: Span<UInt8>, from number: Int) {
    bareReceived += bytes.count
    var splitter = seats[number].splitter
    splitter.receive(bytes) { receive(message: $0, from: number) }
    seats[number].splitter = splitter
  }

  private func receive(message: Span<UInt8>, from number: Int) {
    guard let input = try? World.Input(decoding: message) else { return }
    seats[number].world.receive(input)
    inputs += 1
    guard setup.pace == .lockstep, inputs == seats.count else { return }
    inputs = 0
    loop.post { self.assumeIsolated { $0.tick(at: $0.loop.now) } }
  }

  /// Plays the matches and returns the figures of the measured ticks. Throws `FramesStall` in
  /// lockstep if a client is lost.
  func run() async throws -> FramesServerFigures {
    try await withCheckedThrowingContinuation { continuation in
      finished = continuation
      if setup.pace == .lockstep {
        if figures.lostClients > 0 { return stall() }
        progressTimer = LoopTimer(on: loop, owner: self) { $0.checkProgress() }
        progressTimer?.arm(after: FramesStall.limit)
        return tick(at: loop.now)
      }
      ticker = Ticker(on: loop, owner: self, hertz: FramesSetup.hertz) { server, tick in
        server.tick(at: tick.now, lateness: tick.lateness, missed: Int(tick.missed))
      }
    }
  }

  /// Ends a run in lockstep if the inputs of a tick do not arrive.
  private func checkProgress() {
    if ticks == checkedTick { return stall() }
    checkedTick = ticks
    progressTimer?.arm(after: FramesStall.limit)
  }

  private func stall() {
    finished?.resume(
      throwing: FramesStall(
        tick: ticks, missingInputs: seats.count - inputs, lostClients: figures.lostClients))
    finished = nil
    progressTimer?.cancel()
  }

  /// Closes the connections. The states in flight arrive before the ends of their streams, and
  /// before the clients acknowledge the goodbyes of their sessions.
  func close() async {
    for seat in seats { seat.stream?.close() }
    await node.shutdown(Goodbye(.finished))
  }

  private func tick(at now: Instant, lateness: Duration = .zero, missed: Int = 0) {
    if ticks == FramesSetup.warmUpTicks { startMeasuring(at: now) }
    if ticks > FramesSetup.warmUpTicks { figures.lostTicks += missed }
    if ticks == FramesSetup.warmUpTicks + setup.ticks { return finish(at: now) }
    if ticks >= FramesSetup.warmUpTicks { figures.lateness.append(lateness) }
    ticks += 1
    sendStates()
  }

  private func sendStates() {
    states.removeAll(keepingCapacity: true)
    for index in seats.indices {
      let state = seats[index].world.step(at: loop.now)
      if let connection = seats[index].connection {
        states.append((connection, state))
      } else if let stream = seats[index].stream {
        let bytes = FramesWire.bare(state)
        bareSent += bytes.count
        try? stream.write(bytes)
      }
    }
    if states.isEmpty { return }
    // Each entry into the node's isolation allocates, so one call sends all states.
    node.assumeIsolated { [states] node in
      for (connection, state) in states {
        try? node.send(state, on: .frames, to: connection)
      }
    }
  }

  private func counters() -> FramesServerFigures {
    let (sent, received) = node.assumeIsolated { (Int($0.bytesSent), Int($0.bytesReceived)) }
    var now = FramesServerFigures()
    now.bytesSent = sent + bareSent
    now.bytesReceived = received + bareReceived
    now.cpuNanoseconds = Int(bench_thread_cpu_nanoseconds())
    now.allocations = Int(bench_thread_allocations())
    return now
  }

  private func startMeasuring(at now: Instant) {
    startedAt = now
    begin = counters()
  }

  private func finish(at now: Instant) {
    let end = counters()
    ticker?.stop()
    progressTimer?.cancel()
    figures.seconds = Double((now - startedAt).wholeNanoseconds) / 1e9
    figures.ticks = setup.ticks
    figures.bytesSent = end.bytesSent - begin.bytesSent
    figures.bytesReceived = end.bytesReceived - begin.bytesReceived
    figures.cpuNanoseconds = end.cpuNanoseconds - begin.cpuNanoseconds
    figures.allocations = end.allocations - begin.allocations
    finished?.resume(returning: figures)
    finished = nil
  }
}
