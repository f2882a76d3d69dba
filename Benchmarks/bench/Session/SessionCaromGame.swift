import BenchProbe
import Carom
import SessionPeers

/// A game server that receives 60 bytes from each player and sends 300 bytes to each, 60 times a
/// second.
actor SessionCaromServer: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private let players = SessionCarom.number("peers", 100)
  private let ticks = SessionCarom.number("ticks", 300)
  private let hertz = SessionCarom.number("hertz", Int(SIDE_HERTZ))
  private var connections: [ConnectionID] = []
  private var received = 0
  private var ticksSoFar = 0
  private var cost = side_cost()
  /// The processor time of the loop's thread alone.
  private var threadCPU: UInt64 = 0
  private var ticker: Ticker?
  private var full: CheckedContinuation<Void, Never>?
  private var finished: CheckedContinuation<Void, Never>?

  init(on loop: NetworkLoop) {
    self.loop = loop
    node = SessionCarom.makeNode(0, seats: SessionCarom.number("peers", 100), on: loop)
  }

  func run() async throws {
    await node.setHandler(owner: self) { side, event in side.handle(event) }
    await node.setMessageHandler(owner: self) { side, _ in side.received += 1 }
    let memory = side_memory()
    side_listens(try await node.listen(on: [.loopback4]))
    await withCheckedContinuation { full = $0 }
    SessionOutput.figure("memory", (Double(side_memory()) - Double(memory)) / Double(players))
    SessionOutput.status("full")
    received = 0
    cost = side_cost_now()
    threadCPU = bench_thread_cpu_nanoseconds()
    ticker = Ticker(on: loop, owner: self, hertz: hertz) { side, _ in side.tick() }
    await withCheckedContinuation { finished = $0 }
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .requested(let connection, _, _): node.assumeIsolated { $0.admit(connection) }
    case .opened(let connection, _):
      connections.append(connection)
      guard connections.count == players else { return }
      full?.resume()
      full = nil
    default: break
    }
  }

  private func tick() {
    guard ticksSoFar < ticks else { return finish() }
    ticksSoFar += 1
    let state = SessionBytes(count: Int(SIDE_STATE))
    let connections = connections
    node.assumeIsolated { node in
      for connection in connections { try? node.send(state, on: .inputs, to: connection) }
    }
  }

  private func finish() {
    ticker?.stop()
    let sent = ticks * players
    unsafe side_cost_print(&cost, Double(sent))
    SessionOutput.figure(
      "thread", Double(bench_thread_cpu_nanoseconds() - threadCPU) / Double(sent))
    SessionOutput.figure("received", Double(received))
    SessionOutput.figure("sent", Double(sent))
    SessionOutput.figure("datagrams", Double(received + sent))
    finished?.resume()
    finished = nil
  }
}

/// The players over streams, each with its own node. They send in groups of one hundred, as the
/// players of all subjects do.
actor SessionCaromPlayers: LoopActor {
  nonisolated let loop: NetworkLoop
  private let players = SessionCarom.number("peers", 100)
  private let ticks = SessionCarom.number("ticks", 300)
  private var nodes: [(node: SessionNode, connection: ConnectionID)] = []
  private var arrived = 0
  private var slot = 0
  private var ticker: Ticker?
  private var finished: CheckedContinuation<Void, Never>?
  private static let groupSize = 100

  init(on loop: NetworkLoop) { self.loop = loop }

  func run() async throws {
    let server = try SessionCarom.server()
    for number in 1...players {
      let node = SessionCarom.makeNode(number, seats: 0, on: loop)
      await node.setMessageHandler(owner: self) { side, _ in side.arrived += 1 }
      nodes.append((node, try await node.connect(to: [server])))
    }
    SessionOutput.status("ready")
    ticker = Ticker(on: loop, owner: self, hertz: Int(SIDE_HERTZ) * slots) { side, _ in
      side.sendInputs()
    }
    await withCheckedContinuation { finished = $0 }
    SessionOutput.figure("arrived", Double(arrived))
  }

  private var slots: Int { (players + Self.groupSize - 1) / Self.groupSize }

  /// Sends the inputs of a group of one hundred players; the players stop a second after the
  /// server.
  private func sendInputs() {
    guard slot < (ticks + Int(SIDE_HERTZ)) * slots else {
      ticker?.stop()
      finished?.resume()
      finished = nil
      return
    }
    let first = slot % slots * Self.groupSize
    slot += 1
    let input = SessionBytes(count: Int(SIDE_INPUT))
    for (node, connection) in nodes[first..<min(first + Self.groupSize, players)] {
      node.assumeIsolated { try? $0.send(input, on: .inputs, to: connection) }
    }
  }
}
