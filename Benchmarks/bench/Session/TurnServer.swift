import BenchProbe
import Carom
import Dispatch

/// A server that sends a state to every player as soon as it has everybody's input, and counts what
/// its thread spends.
actor TurnServer: LoopActor {
  /// Sends a message of the game on a connection of a node.
  typealias Sending = @Sendable (isolated SessionNode, ConnectionID) -> Void

  /// What the server's thread has spent.
  struct Spending: Sendable {
    /// The processor time, in nanoseconds.
    var time: UInt64 = 0
    var systemCalls: UInt64 = 0
    var allocations: UInt64 = 0
    /// The bytes that the node has sent and received.
    var bytes: UInt64 = 0
  }

  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private let players: Int
  private let sendState: Sending
  private var connections: [ConnectionID] = []
  private var received = 0
  private var begin: Spending?
  /// What was spent in the ticks that count.
  private(set) var total = Spending()

  init(_ node: SessionNode, players: Int, _ sendState: @escaping Sending) {
    loop = node.loop
    self.node = node
    self.players = players
    self.sendState = sendState
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

  /// Adds what was spent since the last call, if `counts` is true, and blocks the loop's thread
  /// until `mayContinue` is signaled.
  func hold(_ isHeld: DispatchSemaphore, _ mayContinue: DispatchSemaphore, counts: Bool) {
    let now = spent
    if counts, let begin {
      total.time += now.time - begin.time
      total.systemCalls += now.systemCalls - begin.systemCalls
      total.allocations += now.allocations - begin.allocations
      total.bytes += now.bytes - begin.bytes
    }
    isHeld.signal()
    mayContinue.wait()
    begin = spent
  }

  private var spent: Spending {
    Spending(
      time: bench_thread_cpu_nanoseconds(), systemCalls: bench_thread_system_calls(),
      allocations: bench_thread_allocations(),
      bytes: node.assumeIsolated { $0.bytesSent + $0.bytesReceived })
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
    guard received % players == 0 else { return }
    let (connections, sendState) = (connections, sendState)
    node.assumeIsolated { node in
      for connection in connections { sendState(node, connection) }
    }
  }
}
