import BenchProbe
import Carom

/// One server on one loop and on two loops: measures the busiest loop's work for the same players.
/// This tells how many more players the server could hold if each loop had its own core.
///
/// A loop's work is the processor time of its thread alone, so that the players, who share the
/// cores with the server, do not count. One loop with half of the players tells how much of the
/// difference is due to sharing: it has as many players a wake-up as each of two loops.
struct SessionLoops: Hashable, Sendable {
  let loops: Int
  let players: Int

  static let all = [
    SessionLoops(loops: 1, players: 100), SessionLoops(loops: 1, players: 200),
    SessionLoops(loops: 2, players: 200),
  ]
  private static let ticks = 300

  /// The name of measurements with this number of players.
  var name: String { "\(players) players" }

  func run() async throws -> SessionFigures {
    let loop = try NetworkLoop(name: "players")
    do {
      let figures = try await Session.host(
        as: SessionCarom.peer(0), on: [.loopback4], seats: players, loops: loops
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

  private func measure(
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
      let before = await Self.times(of: session)
      let received = await Self.play(session, hosts, on: loop)
      let spent = zip(await Self.times(of: session), before).map { Double($0 - $1) }
      let statistics = await session.statistics
      for peer in await session.peers { await peer.close() }
      try await tasks.waitForAll()
      var figures = SessionFigures()
      let count = Double(players * Self.ticks)
      figures["cpu"] = spent.reduce(0, +) / count
      figures["busiest"] = (spent.max() ?? .nan) / count
      figures["received"] = Double(received) / count
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
