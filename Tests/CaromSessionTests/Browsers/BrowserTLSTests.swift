import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Foundation
import TestTLS
import Testing

extension MessageChannel<UInt32> {
  fileprivate static var numbers: Self { .init(8, .reliableOrdered) }
}

/// What `web_echo.py` prints.
private struct Echo: Codable {
  var violations: [String]
  var echoed: Int
  var streams: Int
  var links: [String]
  var reason: String?

  /// Runs a browser that joins the session at `port`, until its connection ends.
  static func run(port: UInt16, _ arguments: [String]) async throws -> Echo {
    try JSONDecoder().decode(
      Echo.self, from: try await PythonBrowser.run("web_echo.py", port: port, arguments))
  }
}

/// Hosts a session that takes browsers over TLS besides players over TCP, and runs `body`.
private func withHost(
  loops: Int = 1, security: SessionSecurity = .anyone, allowsPlaintext: Bool = false,
  _ body: (Session, UInt16) async throws -> Void
) async throws {
  let page = BrowserOptions(
    pages: ["/": .init(Array("page\n".utf8), mediaType: "text/html; charset=utf-8")],
    encryption: .init(try TestCertificate.load(), allowsPlaintext: allowsPlaintext))
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

  /// Sends 300 numbers to a peer, 25 at a time, and returns those that come back.
  fileprivate func exchange(with peer: Peer) async throws -> [UInt32] {
    var all: [UInt32] = []
    for start in stride(from: UInt32(0), to: 300, by: 25) {
      for number in start..<start + 25 { try await peer.send(number, on: .numbers) }
      all += await collect(25, from: peer)
    }
    return all
  }

  private func collect(_ count: Int, from peer: Peer) async -> [UInt32] {
    var numbers: [UInt32] = []
    for await received in messages(on: .numbers) where received.peer == peer {
      numbers.append(received.message)
      if numbers.count == count { break }
    }
    return numbers
  }
}

@Suite(
  .timeLimit(.minutes(2)), .enabled(if: PythonBrowser.python != nil, "python3 is not on the PATH"),
  .enabled(if: TestCertificate.program != nil, "openssl is missing"))
struct BrowserTLSTests {
  private struct Cases: Codable {
    var cases: Int
    var failures: [String]
  }

  private static let code = "K7QM-2XRT"

  @Test func `each handshake and each request gets its answer, and a player notices nothing`()
    async throws
  {
    try await withHost { session, port in
      let answers = Task { try await PythonBrowser.run("tls_cases.py", port: port) }
      try await withNetworkLoop { loop in
        try await Session.join(
          [Endpoint(.loopback4, port: port)], as: makePeer("player"), over: .stream, loop: loop
        ) { _, _ in
          let player = try await session.nextPeer()
          let result = try JSONDecoder().decode(Cases.self, from: await answers.value)
          #expect(result.failures == [])
          #expect(result.cases > 20)
          #expect(await player.linkKind == .stream)
          #expect(await player.security?.publicKey != nil)
        }
      }
    }
  }

  @Test func `a host without a certificate refuses TLS with an alert`() async throws {
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], over: .webSocket, security: .none, loops: 1
    ) { _, port in
      let answers = try await PythonBrowser.run("tls_cases.py", port: port, ["--plain"])
      let result = try JSONDecoder().decode(Cases.self, from: answers)
      #expect(result.failures == [] && result.cases == 2)
    }
  }

  @Test(arguments: [1, 3], [SessionSecurity.Policy.none, .anyone, .code])
  func `a peer plays over TLS with a host, whatever the host's own encryption`(
    loops: Int, policy: SessionSecurity.Policy
  ) async throws {
    let security: SessionSecurity =
      switch policy {
      case .code: .code(try JoinCode(Self.code))
      case .anyone: .anyone
      default: .none
      }
    try await withHost(loops: loops, security: security) { session, port in
      let code = policy == .code ? ["--code", Self.code] : []
      async let end = Echo.run(port: port, ["--tls", "--rejoin", "25"] + code)
      let browser = try await session.nextPeer()
      #expect(await browser.linkKind == .webSocket)
      #expect("\(browser.protection)" == "encrypted below")
      #expect(await browser.security == nil)
      #expect(try await session.exchange(with: browser) == Array(0..<300))
      await browser.close(Goodbye(.finished))
      let echo = try await end
      #expect(echo.violations == [] && echo.links == ["websocket"])
      #expect(echo.echoed == 300 && echo.streams > 8)
      #expect(echo.reason == "finished")
    }
  }

  @Test func `a host with a code takes a browser that shows it over TLS, and no other`()
    async throws
  {
    let security = SessionSecurity.code(try JoinCode(Self.code))
    try await withHost(security: security, allowsPlaintext: true) { session, port in
      var events = session.events.makeAsyncIterator()
      // In plaintext, everybody on the network could read the code.
      #expect(try await Echo.run(port: port, ["--code", Self.code]).reason == "securityMismatch")
      #expect(try await Echo.run(port: port, ["--tls"]).reason == "wrongCode")
      let wrong = ["--tls", "--code", "AAAA-AAAA"]
      #expect(try await Echo.run(port: port, wrong).reason == "wrongCode")
      // Who has shown no code has not guessed.
      guard case .wrongCode(let failure)? = await events.next() else {
        Issue.record("the wrong code was not reported")
        return
      }
      #expect(failure.count == 1)
      async let end = Echo.run(port: port, ["--tls", "--code", "k7qm2xrt"])
      let browser = try await session.nextPeer()
      await browser.close(Goodbye(.finished))
      #expect(try await end.reason == "finished")
      // A right code clears the count of wrong ones; the third in a row makes all others wait.
      for _ in 0..<3 { #expect(try await Echo.run(port: port, wrong).reason == "wrongCode") }
      let late = try await Echo.run(port: port, ["--tls", "--code", Self.code])
      #expect(late.reason == "tooManyAttempts" && late.echoed == 0)
    }
  }

  @Test func `a host that knows its players refuses browsers, which have no key`() async throws {
    var generator = SystemRandomNumberGenerator()
    let security = SessionSecurity.known(KnownPeers(), as: Identity(using: &generator))
    try await withHost(security: security) { _, port in
      let echo = try await Echo.run(port: port, ["--tls"])
      #expect(echo.reason == "securityMismatch" && echo.echoed == 0)
    }
  }

  @Test func `a browser cannot take the id of another peer, and keeps its own`() async throws {
    try await withHost { session, port in
      try await withNetworkLoop { loop in
        try await Session.join(
          [Endpoint(.loopback4, port: port)], as: makePeer("player"), over: .stream, loop: loop
        ) { _, _ in
          let player = try await session.nextPeer()
          let digits = [player.id.high, player.id.low].map { half in
            let text = String(half, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
          }
          let arguments = ["--tls", "--id", digits.joined()]
          async let first = Echo.run(port: port, arguments)
          let browser = try await session.nextPeer()
          #expect(browser.id != player.id)
          // The same secret is the same peer, which takes its own seat again.
          async let second = Echo.run(port: port, arguments)
          let again = try await session.nextPeer()
          #expect(again.id == browser.id)
          #expect(try await first.reason == "replaced")
          #expect(await player.linkKind == .stream)
          await again.close(Goodbye(.finished))
          #expect(try await second.reason == "finished")
        }
      }
    }
  }
}
