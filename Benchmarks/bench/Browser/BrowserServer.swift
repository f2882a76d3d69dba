import BenchProbe
import Carom
import Dispatch

/// What a server spends on one player in one tick.
struct BrowserCosts: Sendable {
  /// The processor time of the server's thread, in microseconds.
  var processorTime = 0.0
  /// The system calls of the server's thread.
  var systemCalls = 0.0
  /// The heap allocations of the server's thread.
  var allocations = 0.0
  /// The bytes that the players' sockets carry, in both directions.
  var bytes = 0.0
}

/// The host: it sends a state to every player as soon as it has everybody's input.
actor BrowserServer: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private let state = EncodedMessage([UInt8](repeating: 0, count: BrowserRun.stateLength))
  private var connections: [ConnectionID] = []
  private var received = 0
  private var begin: (time: UInt64, calls: UInt64, allocations: UInt64)?
  private var total = (time: UInt64(0), calls: UInt64(0), allocations: UInt64(0))

  init(over kinds: LinkKinds, on loop: NetworkLoop) {
    self.loop = loop
    node = SessionNode(BrowserRun.peer(0), seats: BrowserRun.players, over: kinds, on: loop)
  }

  func listen() async throws -> UInt16 {
    await node.setHandler(owner: self) { side, event in side.handle(event) }
    await node.setMessageHandler(owner: self) { side, _ in side.receiveInput() }
    return try await node.listen(on: [.loopback4])
  }

  /// Begins to count the memory that the loop's thread allocates and frees.
  func beginHeap() { bench_thread_heap_begin() }

  /// Ends the count, and returns the bytes that the loop's thread holds since then.
  func endHeap() -> Double { Double(bench_thread_heap_end()) }

  /// The bytes that the node has sent and received, which for datagrams are all that the sockets
  /// carry.
  var bytes: UInt64 { node.assumeIsolated { $0.bytesSent + $0.bytesReceived } }

  /// What was spent on a player in a tick, but for the bytes.
  func costs(of peerTicks: Double) -> BrowserCosts {
    BrowserCosts(
      processorTime: Double(total.time) / 1000 / peerTicks,
      systemCalls: Double(total.calls) / peerTicks,
      allocations: Double(total.allocations) / peerTicks)
  }

  /// Adds what was spent since the last call, if `counts` is true, and blocks the loop's thread
  /// until `mayContinue` is signaled.
  func hold(_ isHeld: DispatchSemaphore, _ mayContinue: DispatchSemaphore, counts: Bool) {
    let now = spent
    if counts, let begin {
      total.time += now.time - begin.time
      total.calls += now.calls - begin.calls
      total.allocations += now.allocations - begin.allocations
    }
    isHeld.signal()
    mayContinue.wait()
    begin = spent
  }

  private var spent: (time: UInt64, calls: UInt64, allocations: UInt64) {
    (bench_thread_cpu_nanoseconds(), bench_thread_system_calls(), bench_thread_allocations())
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
    guard received % BrowserRun.players == 0 else { return }
    let (connections, state) = (connections, state)
    node.assumeIsolated { node in
      for connection in connections { try? node.send(state, on: .game, to: connection) }
    }
  }
}

extension MessageChannel where Message == EncodedMessage {
  /// The inputs and states of the measured game.
  static var game: Self { .init(BrowserRun.channel, .unreliable) }
}
