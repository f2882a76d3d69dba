import BenchProbe
import Carom
import Dispatch
import SessionPeers

/// What a server spends on one player in one tick over real sockets, in counts that do not depend
/// on the machine: the inputs of all players wait when the server wakes, and it answers the last of
/// them with everybody's state.
struct SessionTurnCounts: Sendable {
  /// The system calls of the server's thread.
  var systemCalls = 0.0
  /// The heap allocations of the server's thread.
  var allocations = 0.0
  /// The bytes of both directions that the server's sockets carry.
  var bytes = 0.0

  /// The number of players; one more than this in the same tick would need a second `recvmmsg`.
  static let players = 60
  static let warmUp = 100
  static let ticks = 500

  static func measure(over link: SessionCarom.Link) async throws -> SessionTurnCounts {
    let serverLoop = try NetworkLoop(name: "server")
    let playersLoop = try NetworkLoop(name: "players")
    let server = SessionTurnServer(over: link, on: serverLoop)
    let players = SessionTurnPlayers(over: link, on: playersLoop)
    let result: Result<SessionTurnCounts, any Error>
    do {
      try await players.join(port: try await server.listen())
      result = .success(await play(server, players))
    } catch { result = .failure(error) }
    await players.leave()
    await playersLoop.shutdown()
    await serverLoop.shutdown()
    return try result.get()
  }

  private static func play(
    _ server: SessionTurnServer, _ players: SessionTurnPlayers
  ) async -> SessionTurnCounts {
    let (isHeld, mayContinue) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    for tick in 0...warmUp + ticks {
      // The server's thread stops until every input waits in its sockets.
      async let held: Void = server.hold(isHeld, mayContinue, counts: tick > warmUp)
      await players.sendInputs(isHeld, mayContinue)
      await held
      await players.waitForStates()
    }
    return await server.counts
  }
}

/// The server: it sends a state to every player as soon as it has everybody's input.
private actor SessionTurnServer: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private var connections: [ConnectionID] = []
  private var received = 0
  private var begin: (calls: UInt64, allocations: UInt64, bytes: UInt64)?
  private var total = (calls: UInt64(0), allocations: UInt64(0), bytes: UInt64(0))
  private let state = SessionBytes(count: Int(SIDE_STATE))

  init(over link: SessionCarom.Link, on loop: NetworkLoop) {
    self.loop = loop
    node = SessionCarom.makeNode(0, seats: SessionTurnCounts.players, over: link, on: loop)
  }

  func listen() async throws -> UInt16 {
    await node.setHandler(owner: self) { side, event in side.handle(event) }
    await node.setMessageHandler(owner: self) { side, _ in side.receiveInput() }
    return try await node.listen(on: [.loopback4])
  }

  var counts: SessionTurnCounts {
    let count = Double(SessionTurnCounts.players * SessionTurnCounts.ticks)
    return SessionTurnCounts(
      systemCalls: Double(total.calls) / count, allocations: Double(total.allocations) / count,
      bytes: Double(total.bytes) / count)
  }

  /// Adds what was spent since the last call, if `counts` is true, and blocks the loop's thread
  /// until `mayContinue` is signaled.
  func hold(
    _ isHeld: DispatchSemaphore, _ mayContinue: DispatchSemaphore, counts: Bool
  ) {
    let now = spent
    if counts, let begin {
      total.calls += now.calls - begin.calls
      total.allocations += now.allocations - begin.allocations
      total.bytes += now.bytes - begin.bytes
    }
    isHeld.signal()
    mayContinue.wait()
    begin = spent
  }

  private var spent: (calls: UInt64, allocations: UInt64, bytes: UInt64) {
    let bytes = node.assumeIsolated { $0.bytesSent + $0.bytesReceived }
    return (bench_thread_system_calls(), bench_thread_allocations(), bytes)
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .requested(let connection, _, _): node.assumeIsolated { $0.admit(connection) }
    case .opened(let connection, _): connections.append(connection)
    default: break
    }
  }

  private func receiveInput() {
    received += 1
    guard received % SessionTurnCounts.players == 0 else { return }
    let (connections, state) = (connections, state)
    node.assumeIsolated { node in
      for connection in connections { try? node.send(state, on: .inputs, to: connection) }
    }
  }
}

/// The players, each with its own node.
private actor SessionTurnPlayers: LoopActor {
  nonisolated let loop: NetworkLoop
  private let link: SessionCarom.Link
  private var nodes: [(node: SessionNode, connection: ConnectionID)] = []
  private var awaited = 0
  private var waiter: CheckedContinuation<Void, Never>?
  private let input = SessionBytes(count: Int(SIDE_INPUT))

  init(over link: SessionCarom.Link, on loop: NetworkLoop) {
    self.link = link
    self.loop = loop
  }

  func join(port: UInt16) async throws {
    for number in 1...SessionTurnCounts.players {
      let node = SessionCarom.makeNode(number, seats: 0, over: link, on: loop)
      await node.setMessageHandler(owner: self) { side, _ in side.receiveState() }
      nodes.append((node, try await node.connect(to: [Endpoint(.loopback4, port: port)])))
    }
  }

  func leave() async {
    for (node, _) in nodes { await node.shutdown() }
  }

  /// Sends everybody's input while the server's thread is held, then lets it continue.
  func sendInputs(_ isHeld: DispatchSemaphore, _ mayContinue: DispatchSemaphore) {
    isHeld.wait()
    awaited = nodes.count
    for (node, connection) in nodes {
      node.assumeIsolated { [input] node in
        try? node.send(input, on: .inputs, to: connection)
        node.flush()
      }
    }
    mayContinue.signal()
  }

  func waitForStates() async {
    guard awaited > 0 else { return }
    await withCheckedContinuation { waiter = $0 }
  }

  private func receiveState() {
    awaited -= 1
    guard awaited == 0 else { return }
    waiter?.resume()
    waiter = nil
  }
}
