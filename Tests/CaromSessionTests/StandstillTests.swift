import CaromCore
import CaromProtocol
import CaromTransport
import Dispatch
import Testing

@testable import CaromSession

/// A process that was suspended, or starved of time, reads its sockets before it declares a peer
/// timed out.
@Suite(.timeLimit(.minutes(1))) struct StandstillTests {
  /// While the host's thread stands still, first its deadline passes and then a message arrives, so
  /// the system reports the timer before the socket.
  @Test(arguments: [LinkKinds.stream, .datagram])
  func `after a standstill, a node reads its sockets before it declares a peer timed out`(
    kinds: LinkKinds
  ) async throws {
    try await withNetworkLoop { loop in
      try await withNetworkLoop(name: "client") { clientLoop in
        var timing = SessionTiming()
        timing.firstPings = 0
        timing.pingInterval = .seconds(3_600)
        timing.silenceLimit = .milliseconds(1500)
        let host = SessionNode(makePeer("host"), seats: 1, timing: timing, over: kinds, on: loop)
        let owner = Owner(of: host)
        await owner.begin()
        let port = try await host.listen(on: [.loopback4])
        timing.silenceLimit = .seconds(3_600)
        let client = SessionNode(
          makePeer("client"), seats: 0, timing: timing, over: kinds, on: clientLoop)
        let connection = try await client.connect(to: [Endpoint(.loopback4, port: port)])
        try await client.send(Note([1]), on: .notes, to: connection)
        for await _ in owner.standstills { break }
        // The host's timer is late by more than the 250 ms that count as a standstill.
        try await clientLoop.sleep(until: clientLoop.now + .milliseconds(1800))
        try await client.sendNow(Note([2]), to: connection)
        owner.wake()
        for await event in owner.events {
          #expect(event.isMessage, "\(event)")
          break
        }
        await client.shutdown()
        await host.shutdown()
      }
    }
  }
}

extension SessionEvent {
  fileprivate var isMessage: Bool { if case .message = self { true } else { false } }
}

extension SessionNode {
  /// Sends a message in this turn of the loop.
  fileprivate func sendNow(_ note: Note, to connection: ConnectionID) throws {
    try send(note, on: .notes, to: connection)
    flush()
  }
}

/// Admits every peer, and stops the loop's thread after the first message until `wake` is called.
private actor Owner: LoopActor {
  nonisolated let loop: NetworkLoop
  /// Yields once, when the thread stands still.
  nonisolated let standstills: AsyncStream<Void>
  /// The messages after the first one, and the ends of connections.
  nonisolated let events: AsyncStream<SessionEvent>
  private let node: SessionNode
  private let standstill: AsyncStream<Void>.Continuation
  private let event: AsyncStream<SessionEvent>.Continuation
  private let end = DispatchSemaphore(value: 0)
  private var hasStoodStill = false

  init(of node: SessionNode) {
    self.node = node
    loop = node.loop
    (standstills, standstill) = AsyncStream.makeStream(of: Void.self)
    (events, event) = AsyncStream.makeStream(of: SessionEvent.self)
  }

  func begin() async {
    await node.setHandler(owner: self) { owner, event in owner.handle(event) }
  }

  private func handle(_ event: SessionEvent) {
    if case .requested(let connection, _, _) = event {
      node.assumeIsolated { $0.admit(connection) }
    } else if event.isMessage, !hasStoodStill {
      hasStoodStill = true
      let (standstill, end) = (standstill, end)
      // Only after the node has armed its timer for the next deadline.
      loop.post {
        standstill.yield()
        end.wait()
      }
    } else if event.isMessage || event.endedConnection != nil {
      self.event.yield(event)
    }
  }

  nonisolated func wake() { end.signal() }
}
