import Carom
import Dispatch

/// The players of one kind of link, all on one thread.
protocol BrowserPlayers: Actor {
  /// Lets all players join.
  func join(port: UInt16) async throws
  /// Sends everybody's input while the server's thread is held, then lets it continue.
  func sendInputs(_ isHeld: DispatchSemaphore, _ mayContinue: DispatchSemaphore) async throws
  /// Waits until everybody has a state.
  func awaitStates() async throws
  /// The bytes that the sockets have carried, or nil if the server's count has them all.
  var bytes: UInt64? { get }
  func leave() async
}

/// Players in browsers.
actor BrowserWebPlayers: BrowserPlayers {
  private var sockets: [BrowserSocket] = []
  private let input = [UInt8](repeating: 0, count: BrowserRun.inputLength)

  func join(port: UInt16) throws {
    for number in 1...BrowserRun.players {
      let socket = try BrowserSocket(port: port, number: number)
      try socket.join(port: port)
      sockets.append(socket)
    }
  }

  /// Opens connections to the host's port that say no more than the beginning of a request.
  func openDoors(port: UInt16) throws {
    for number in 1...BrowserRun.players {
      let socket = try BrowserSocket(port: port, number: number)
      try socket.write(Array("GET / HTTP/1.1\r\nHost: 127".utf8))
      sockets.append(socket)
    }
  }

  func sendInputs(_ isHeld: DispatchSemaphore, _ mayContinue: DispatchSemaphore) throws {
    isHeld.wait()
    defer { mayContinue.signal() }
    for socket in sockets { try socket.sendInput(input) }
  }

  func awaitStates() throws {
    for socket in sockets { try socket.awaitState() }
  }

  var bytes: UInt64? { sockets.reduce(0) { $0 + $1.bytes } }

  func leave() { sockets = [] }
}

/// Players over datagrams, each with its own node.
actor BrowserDatagramPlayers: LoopActor, BrowserPlayers {
  nonisolated let loop: NetworkLoop
  private var nodes: [(node: SessionNode, connection: ConnectionID)] = []
  private var awaited = 0
  private var waiter: CheckedContinuation<Void, Never>?
  private let input = EncodedMessage([UInt8](repeating: 0, count: BrowserRun.inputLength))

  init(on loop: NetworkLoop) { self.loop = loop }

  func join(port: UInt16) async throws {
    for number in 1...BrowserRun.players {
      let node = SessionNode(BrowserRun.peer(number), seats: 0, over: .datagram, on: loop)
      await node.setMessageHandler(owner: self) { side, _ in side.receiveState() }
      nodes.append((node, try await node.connect(to: [Endpoint(.loopback4, port: port)])))
    }
  }

  func sendInputs(_ isHeld: DispatchSemaphore, _ mayContinue: DispatchSemaphore) {
    isHeld.wait()
    awaited = nodes.count
    for (node, connection) in nodes {
      node.assumeIsolated { [input] node in
        try? node.send(input, on: .game, to: connection)
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

  var bytes: UInt64? { nil }

  func leave() async {
    for (node, _) in nodes { await node.shutdown() }
  }
}
