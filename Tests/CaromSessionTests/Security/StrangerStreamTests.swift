import CaromCore
import CaromTransport
import Dispatch
import Testing

@testable import CaromSession

/// Streams of peers that prove nothing.
@Suite(.timeLimit(.minutes(1))) struct StrangerStreamTests {
  /// More streams than an encrypted host accepts at once. They say nothing.
  private static let count = 400

  @Test func `streams beyond the budget for handshakes wait in the backlog`() async throws {
    try await withNetworkLoop { loop in
      try await withNetworkLoop(name: "strangers") { strangersLoop in
        let host = SessionNode(
          makePeer("host"), seats: 1, over: .stream, security: .anyone, on: loop)
        let events = Collector(on: loop)
        await events.watch(host, admitsAll: true)
        let endpoint = Endpoint(.loopback4, port: try await host.listen(on: [.loopback4]))
        // The host's loop stands still until all strangers wait in the backlog, so that it finds
        // more of them at once than it may accept.
        let (pauses, pause) = AsyncStream.makeStream(of: Void.self)
        let mayContinue = DispatchSemaphore(value: 0)
        loop.post {
          pause.yield()
          mayContinue.wait()
        }
        for await _ in pauses { break }
        let strangers = Strangers(on: strangersLoop)
        do {
          try await strangers.connect(Self.count, to: endpoint)
          mayContinue.signal()
        } catch {
          mayContinue.signal()
          throw error
        }
        // `accept` returns streams in the order in which they arrived, so the client comes last.
        let client = SessionNode(
          makePeer("client"), seats: 0, over: .stream, security: .anyone, on: loop)
        _ = try await client.connect(to: [endpoint])
        _ = try await events.opened()
        let statistics = await host.loopStatistics
        #expect(statistics.strangers == Self.count && statistics.peers == 1)
        #expect(statistics.handshakesPostponed == 0 && statistics.strangersDropped == 0)
        #expect(statistics.acceptingPauses > 0)
        await strangers.leave()
        await client.shutdown()
        await host.shutdown()
      }
    }
  }
}

/// Peers that connect and say nothing.
private actor Strangers: LoopActor {
  nonisolated let loop: NetworkLoop
  private var streams: [TCPStream] = []

  init(on loop: NetworkLoop) { self.loop = loop }

  func connect(_ count: Int, to endpoint: Endpoint) async throws {
    for _ in 0..<count { streams.append(try await TCPStream.connect(to: [endpoint], on: loop)) }
  }

  func leave() {
    for stream in streams { stream.reset() }
    streams = []
  }
}
