import BenchProbe
import Carom

/// One server on one loop and on two loops: measures the busiest loop's work for the same players.
/// This tells how many more players the server could hold if each loop had its own core.
enum SessionLoops {
  static let counts = [1, 2]
  static let players = 200
  static let ticks = 300

  static func run(loops count: Int) async throws -> SessionFigures {
    let loop = try NetworkLoop(name: "players")
    do {
      let figures = try await Session.host(
        as: SessionCarom.peer(0), on: [.loopback4], seats: players, loops: count
      ) { session, port in
        try await measure(session, Endpoint(.loopback4, port: port), on: loop)
      }
      await loop.shutdown()
      return figures
    } catch {
      await loop.shutdown()
      throw error
    }
  }

  private static func measure(
    _ session: Session, _ endpoint: Endpoint, on loop: NetworkLoop
  ) async throws -> SessionFigures {
    let (seats, opened) = AsyncStream.makeStream(of: Peer.self)
    return try await withThrowingTaskGroup { tasks in
      for number in 1...players {
        tasks.addTask {
          try await Session.join([endpoint], as: SessionCarom.peer(number), loop: loop) {
            client, host in
            opened.yield(host)
            for await event in client.events { if case .left = event { break } }
          }
        }
      }
      var hosts: [Peer] = []
      for await host in seats {
        hosts.append(host)
        if hosts.count == players { break }
      }
      let before = await times(of: session)
      let received = await play(session, hosts, on: loop)
      let spent = zip(await times(of: session), before).map { Double($0 - $1) }
      let statistics = await session.statistics
      for peer in await session.peers { await peer.close() }
      try await tasks.waitForAll()
      var figures = SessionFigures()
      figures["cpu"] = spent.reduce(0, +) / Double(players * ticks)
      figures["busiest"] = (spent.max() ?? .nan) / Double(players * ticks)
      figures["received"] = Double(received) / Double(players * ticks)
      figures["streams"] = Double(statistics.reduce(0) { $0 + $1.streamsForwarded })
      figures["datagrams"] = Double(statistics.reduce(0) { $0 + $1.datagramsForwarded })
      return figures
    }
  }

  /// Plays ticks in which every player and the server send a message each. Returns the number of
  /// messages that the server received.
  private static func play(
    _ session: Session, _ hosts: [Peer], on loop: NetworkLoop
  ) async -> Int {
    var received = 0
    for await step in FixedStep(hertz: 60, on: loop) {
      received += session.takeMessages(on: .inputs).count
      if step.tick.rawValue >= UInt64(ticks) { break }
      for host in hosts { _ = host.post(SessionBytes(count: 60), on: .inputs) }
      _ = session.post(SessionBytes(count: 300), on: .states)
    }
    return received
  }

  private static func times(of session: Session) async -> [UInt64] {
    var times: [UInt64] = []
    for loop in session.loops { times.append(await loop.run { bench_thread_cpu_nanoseconds() }) }
    return times
  }
}
