import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Foundation
import Testing

extension MessageChannel<UInt32> {
  fileprivate static var numbers: Self { .init(7, .reliableOrdered) }
}

private let page = BrowserOptions(
  pages: ["/": .init(Array("page\n".utf8), mediaType: "text/html; charset=utf-8")])

/// Hosts a session that takes browsers besides players over TCP, and runs `body`.
private func withHost(
  loops: Int = 1, security: SessionSecurity = .none,
  _ body: (Session, UInt16) async throws -> Void
) async throws {
  try await Session.host(
    as: makePeer("host"), on: [.loopback4], over: [.stream, .webSocket], seats: 8,
    security: security, browsers: page, loops: loops, body)
}

extension Session {
  /// Waits for the next peer that joins.
  fileprivate func nextPeer() async throws -> Peer {
    for await event in events { if case .joined(let peer) = event { return peer } }
    throw CancellationError()
  }
}

extension Peer {
  /// Sends the numbers below `count`, and returns the first as many that come back.
  fileprivate func exchange(_ count: UInt32, in session: Session) async throws -> [UInt32] {
    async let back = session.messages(on: .numbers).first(Int(count), from: self)
    for number in 0..<count { try await send(number, on: .numbers) }
    return await back
  }
}

extension Messages<UInt32> {
  fileprivate func first(_ count: Int, from peer: Peer) async -> [UInt32] {
    var numbers: [UInt32] = []
    for await received in self where received.peer == peer {
      numbers.append(received.message)
      if numbers.count == count { break }
    }
    return numbers
  }
}

@Suite(
  .timeLimit(.minutes(2)), .enabled(if: PythonBrowser.python != nil, "python3 is not on the PATH"))
struct BrowserDoorTests {
  private struct Cases: Codable {
    var cases: Int
    var failures: [String]
  }

  private struct Echo: Codable {
    var violations: [String]
    var echoed: Int
    var streams: Int
    var links: [String]
    var reason: String?
  }

  @Test func `each request and each frame gets its answer, and a player notices nothing`()
    async throws
  {
    try await withHost { session, port in
      let answers = Task { try await PythonBrowser.run("web_cases.py", port: port) }
      try await withNetworkLoop { loop in
        try await Session.join(
          [Endpoint(.loopback4, port: port)], as: makePeer("player"), over: .stream,
          security: .none, loop: loop
        ) { joined, host in
          let player = try await session.nextPeer()
          let result = try JSONDecoder().decode(Cases.self, from: await answers.value)
          #expect(result.failures == [])
          #expect(result.cases > 200)
          try await player.send(5, on: .numbers)
          #expect(await joined.messages(on: .numbers).first(1, from: host) == [5])
          #expect(await player.linkKind == .stream)
        }
      }
    }
  }

  @Test(arguments: [1, 3])
  func `a peer written from the WireFormat page plays over a WebSocket`(loops: Int) async throws {
    try await withHost(loops: loops) { session, port in
      async let end = PythonBrowser.run("web_echo.py", port: port, ["--rejoin", "25"])
      let browser = try await session.nextPeer()
      #expect(await browser.linkKind == .webSocket)
      #expect(await browser.statistics?.link?.description == "websocket")
      // The browser opens another WebSocket in each of the first exchanges.
      for _ in 0..<5 {
        #expect(try await browser.exchange(60, in: session) == Array(0..<60))
      }
      await browser.close(Goodbye(.finished))
      let echo = try JSONDecoder().decode(Echo.self, from: await end)
      #expect(echo.violations == [] && echo.links == ["websocket"])
      #expect(echo.echoed == 300 && echo.streams > 2)
      #expect(echo.reason == "finished")
    }
  }

  @Test func `a host that encrypts refuses a browser that does not`() async throws {
    try await withHost(security: .anyone) { _, port in
      let end = try await PythonBrowser.run("web_echo.py", port: port)
      let echo = try JSONDecoder().decode(Echo.self, from: end)
      #expect(echo.reason == "securityMismatch" && echo.echoed == 0)
    }
  }
}
