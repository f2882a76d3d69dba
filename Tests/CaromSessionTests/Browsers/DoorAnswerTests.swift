#if os(Linux)
  import CaromCore
  import CaromTransport
  import TestClock
  import Testing

  @testable import CaromSession

  @Suite(.timeLimit(.minutes(1))) struct DoorAnswerTests {
    /// More than the system's buffers hold.
    private static let pages = BrowserOptions(
      pages: ["/": .init([UInt8](repeating: 1, count: 64 << 20), mediaType: "text/plain")])

    @Test func `an answer that nobody reads is given up after thirty seconds`() async throws {
      try await withNetworkLoop { loop in
        let node = SessionNode(
          makePeer("host"), seats: 1, over: .webSocket, browsers: Self.pages, on: loop)
        let host = Endpoint(.loopback4, port: try await node.listen(on: [.loopback4]))
        try await Task(executorPreference: loop) {
          let stream = try await TCPStream.connect(to: [host], on: loop)
          let clock = StoppedClock(of: loop)
          try stream.write(Array("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8))
          while await node.answeredDoors == 0 { await loop.run {} }
          try await clock.advance(by: .seconds(30) - .nanoseconds(1))
          #expect(await node.answeredDoors == 1)
          try await clock.advance(by: .nanoseconds(1))
          #expect(await node.answeredDoors == 0)
          stream.reset()
        }.value
        await node.shutdown()
      }
    }
  }

  extension SessionNode {
    /// The number of doors that send an answer.
    fileprivate var answeredDoors: Int { sockets.doors.all.count { $0.isAnswered } }
  }
#endif
