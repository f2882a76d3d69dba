import Carom
import Dispatch

/// The players of a `TurnServer`, whose inputs all wait when it wakes.
protocol TurnPlayers: Actor {
  /// Lets all players join.
  func join(port: UInt16) async throws
  /// Sends everybody's input while the server's thread is held, then lets it continue.
  func sendInputs(_ isHeld: DispatchSemaphore, _ mayContinue: DispatchSemaphore) async throws
  /// Waits until everybody has a state.
  func awaitStates() async throws
  func leave() async
}

extension TurnServer {
  /// Plays ticks with the players, and counts those after the first `warmUp`. `rate` is the number
  /// of ticks in a second; nil for as many as there can be. Calls `begin` before the ticks that
  /// count.
  nonisolated func play(
    with players: some TurnPlayers, warmUp: Int, ticks: Int, rate: Int? = nil,
    _ begin: () async -> Void = {}
  ) async throws {
    let (isHeld, mayContinue) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let start = ContinuousClock.now
    for tick in 0...warmUp + ticks {
      // The server's thread stops until every input waits in its sockets.
      async let held: Void = hold(isHeld, mayContinue, counts: tick > warmUp)
      try await players.sendInputs(isHeld, mayContinue)
      await held
      try await players.awaitStates()
      if tick == warmUp { await begin() }
      guard let rate else { continue }
      try await Task.sleep(until: start + .seconds(1) * (tick + 1) / rate)
    }
  }
}

/// Players with a node each.
actor TurnNodes: LoopActor, TurnPlayers {
  nonisolated let loop: NetworkLoop
  private let count: Int
  private let makeNode: @Sendable (Int) -> SessionNode
  private let sendInput: TurnServer.Sending
  private var nodes: [(node: SessionNode, connection: ConnectionID)] = []
  private var awaited = 0
  private var waiter: CheckedContinuation<Void, Never>?

  /// Creates `count` players on `loop`. `makeNode` makes the node of the player with a number.
  init(
    _ count: Int, on loop: NetworkLoop, _ makeNode: @escaping @Sendable (Int) -> SessionNode,
    _ sendInput: @escaping TurnServer.Sending
  ) {
    self.loop = loop
    self.count = count
    self.makeNode = makeNode
    self.sendInput = sendInput
  }

  func join(port: UInt16) async throws {
    for number in 1...count {
      let node = makeNode(number)
      await node.setMessageHandler(owner: self) { side, _ in side.receiveState() }
      nodes.append((node, try await node.connect(to: [Endpoint(.loopback4, port: port)])))
    }
  }

  func leave() async {
    for (node, _) in nodes { await node.shutdown() }
  }

  func sendInputs(_ isHeld: DispatchSemaphore, _ mayContinue: DispatchSemaphore) {
    isHeld.wait()
    awaited = nodes.count
    for (node, connection) in nodes {
      node.assumeIsolated { [sendInput] node in
        sendInput(node, connection)
        node.flush()
      }
    }
    mayContinue.signal()
  }

  func awaitStates() async {
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
