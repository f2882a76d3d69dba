import Carom
import CaromServer
import ServiceLifecycle

// The examples of the page Servers. Each is repeated there.

func runRooms(as me: PeerInfo, loggingTo logger: Logger) async throws {
  let metrics = SessionMetrics()
  let rooms = SessionService { loops in
    try await Session.host(as: me, port: 7777, seats: 64, loops: loops) { session, port in
      logger.info("listening", metadata: ["port": "\(port)"])
      await session.log(to: logger)
      async let reports: Void = session.report(to: metrics)
      for await line in session.messages(on: .chat) {
        try await session.broadcast(line.message, on: .chat)
      }
      // Save here what the next process needs.
      await reports
    }
  }
  let group = ServiceGroup(
    services: [rooms], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
  try await group.run()
}

func tick(_ session: Session, loggingTo logger: Logger) async {
  for await step in FixedStep(hertz: 30, on: session.loop) {
    if step.dropped > 0 { logger.warning("ticks dropped", metadata: ["count": "\(step.dropped)"]) }
    for line in session.takeMessages(on: .chat) {
      _ = session.post("\(line.peer.name): \(line.message)", on: .chat)
    }
  }
}

func serveMatch(as me: PeerInfo) async throws {
  let (memory, health) = (PrometheusMetrics(), TickHealth())
  let metrics = SessionMetrics(factory: memory)
  let browsers = BrowserOptions(resources: [
    "/metrics": { memory.page },
    "/health": { health.page(at: NetworkLoop.now) },
  ])
  try await Session.host(
    as: me, port: 7777, over: [.datagram, .stream, .webSocket], seats: 8, browsers: browsers
  ) { session, port in
    async let reports: Void = session.report(to: metrics)
    for await step in FixedStep(hertz: 60, on: session.loop) {
      // Simulate the tick here. The next one is due a sixtieth of a second after this one was.
      let now = session.loop.now
      health.expectTick(by: now.advanced(by: .milliseconds(17) - step.lateness), at: now)
    }
    await reports
  }
}

func serveTables<Game: Simulation & PacketCodable>(
  _ count: Int, of game: Game, as me: PeerInfo
) async throws {
  try await Session.host(
    as: me, port: 7777, seats: 2 * count,
    admit: { 1...count ~= Int($0.match) ? .accept : .decline("there is no such table") }
  ) { session, port in
    let matches = ConcurrentMatches(count, over: session) { Int($0.info.match) - 1 }
    let tables = (0..<count).map { number in
      HostedRollback(
        RollbackServer(game, players: 2, at: session.loop.now), of: matches, number: number)
    }
    for await _ in FixedStep(hertz: 60, on: session.loop) {
      for table in tables { table.update() }
    }
  }
}
