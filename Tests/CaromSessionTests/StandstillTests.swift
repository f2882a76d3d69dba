#if os(Linux)
  import CaromCore
  import CaromProtocol
  import CaromTransport
  import Dispatch
  import TestClock
  import Testing

  @testable import CaromSession

  /// A process that was suspended, or starved of time, reads its sockets before it declares a peer
  /// timed out.
  @Suite(.timeLimit(.minutes(1))) struct StandstillTests {
    /// While the host's thread stands still, its deadline passes and then a message arrives, so the
    /// system reports the timer before the socket.
    @Test(arguments: [LinkKinds.stream, .datagram])
    func `after a standstill, a node reads its sockets before it declares a peer timed out`(
      kinds: LinkKinds
    ) async throws {
      try await withNetworkLoop { loop in
        try await withNetworkLoop(name: "client") { clientLoop in
          let timing = SessionTiming.withoutPings
          let host = SessionNode(makePeer("host"), seats: 1, timing: timing, over: kinds, on: loop)
          let events = Collector(on: loop)
          await events.watch(host, admitsAll: true)
          let port = try await host.listen(on: [.loopback4])
          let client = SessionNode(
            makePeer("client"), seats: 0, timing: timing, over: kinds, on: clientLoop)
          let connection = try await client.connect(to: [Endpoint(.loopback4, port: port)])
          // Then both sides have sent what was due, and the host has read it.
          try await client.sendConfirmed(Note([1]), on: .notes, to: connection).expectTrue()
          for _ in 0..<3 { await loop.run {} }
          let (standstills, standstill) = AsyncStream.makeStream(of: Void.self)
          let isSent = DispatchSemaphore(value: 0)
          loop.post {
            // The system's timer expires, and the loop then looks for all timers that are due.
            LoopTimer(on: loop) {}.arm(after: .milliseconds(1))
            let clock = StoppedClock(of: loop)
            standstill.yield()
            isSent.wait()
            // By more than the 250 ms that count as a standstill.
            clock.skip(timing.silenceLimit + .milliseconds(251))
          }
          for await _ in standstills { break }
          // Until the system's timer has expired.
          try await clientLoop.sleep(until: clientLoop.now + .milliseconds(10))
          try await client.sendNow(Note([2]), to: connection)
          isSent.signal()
          let event = try await events.first { $0.isSecond || $0.isFailure }
          #expect(event.isSecond, "\(event)")
          await client.shutdown()
        }
      }
    }
  }

  extension SessionEvent {
    fileprivate var isSecond: Bool { if case .message(_, _, [2]) = self { true } else { false } }

    /// Whether the peer was found not to answer, or its connection has ended.
    fileprivate var isFailure: Bool {
      if case .interrupted = self { true } else { endedConnection != nil }
    }
  }

  extension SessionNode {
    /// Sends a message in this turn of the loop.
    fileprivate func sendNow(_ note: Note, to connection: ConnectionID) throws {
      try send(note, on: .notes, to: connection)
      flush()
    }
  }
#endif
