import CaromSessionTesting
import TestTLS
import Testing

/// The doors of a host that browsers can join: how long they stay open, and how many there are.
@Suite(.timeLimit(.minutes(1))) struct DoorLimitTests {
  /// Hosts a session in a new world, and runs `body` with the address at which browsers reach it.
  private func withHost(
    security: SessionSecurity = .none, browsers: BrowserOptions = BrowserOptions(),
    _ body: @escaping @Sendable (SessionWorld, Endpoint) async throws -> Void
  ) async throws {
    try await SessionWorld.run(seed: 1) { world in
      let server = world.addHost()
      try await Session.host(
        as: .maya, over: [.stream, .webSocket], seats: 4, security: security,
        browsers: browsers, loop: server.loop
      ) { _, port in try await body(world, Endpoint(server.v4, port: port)) }
    }
  }

  @Test func `a head that does not end is answered with 408 after ten seconds`() async throws {
    try await withHost { world, host in
      let visitor = Visitor(on: world.addHost().loop)
      try await visitor.open(1, to: host)
      let start = world.now
      // A byte now and then does not extend the time.
      for byte in "GET / HTTP/1.1\r\n".utf8.prefix(9) {
        try await visitor.write([byte], on: 0)
        try await world.sleep(for: .seconds(1))
      }
      let end = try await visitor.waitForEnd(of: 0)
      #expect((.seconds(10) ... .milliseconds(10_100)).contains(end - start))
      let answer = await visitor.text(of: 0)
      #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    }
  }

  @Test(arguments: [[], [0x16], Array("GE".utf8)] as [[UInt8]])
  func `a stream whose protocol stays unknown is closed after ten seconds`(
    first: [UInt8]
  ) async throws {
    try await withHost { world, host in
      let visitor = Visitor(on: world.addHost().loop)
      try await visitor.open(1, to: host)
      let start = world.now
      if !first.isEmpty { try await visitor.write(first, on: 0) }
      let end = try await visitor.waitForEnd(of: 0)
      #expect((.seconds(9.9) ... .seconds(10.1)).contains(end - start))
      #expect(await visitor.text(of: 0) == "")
    }
  }

  @Test(.enabled(if: TestCertificate.program != nil, "openssl is missing"))
  func `a TLS handshake that does not end is closed after ten seconds`() async throws {
    let browsers = BrowserOptions(encryption: .init(try TestCertificate.load()))
    try await withHost(browsers: browsers) { world, host in
      let visitor = Visitor(on: world.addHost().loop)
      try await visitor.open(2, to: host)
      let start = world.now
      let hello = TLSClient().take()
      try await visitor.write(hello, on: 1)
      // A byte now and then does not extend the time.
      for byte in hello.prefix(9) {
        try await visitor.write([byte], on: 0)
        try await world.sleep(for: .seconds(1))
      }
      // The host has answered the whole hello, and waits for the rest of the handshake as long.
      #expect(await visitor.text(of: 1) != "")
      for index in 0..<2 {
        let end = try await visitor.waitForEnd(of: index)
        #expect((.seconds(9.9) ... .seconds(10.1)).contains(end - start), "door \(index)")
      }
      #expect(await visitor.text(of: 0) == "")
    }
  }

  /// 250 handshakes at once are 50 more than a host begins at once.
  @Test(.enabled(if: TestCertificate.program != nil, "openssl is missing"))
  func `TLS handshakes beyond the budget wait, even if the session itself does not encrypt`()
    async throws
  {
    let browsers = BrowserOptions(encryption: .init(try TestCertificate.load()))
    try await withHost(browsers: browsers) { world, host in
      var visitors: [Visitor] = []
      for _ in 0..<10 {
        let visitor = Visitor(on: world.addHost().loop)
        visitors.append(visitor)
        try await visitor.open(25, to: host)
      }
      for visitor in visitors {
        for index in 0..<25 { try await visitor.write(TLSClient().take(), on: index) }
      }
      try await world.sleep(for: .milliseconds(20))
      var answered = 0
      for visitor in visitors { answered += await visitor.begunCount }
      #expect((200..<250).contains(answered))
      try await world.sleep(for: .seconds(1))
      for visitor in visitors {
        #expect(await visitor.ended == [])
        #expect(await visitor.begunCount == 25)
      }
    }
  }

  @Test func `a host without WebSockets does not answer requests`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let server = world.addHost()
      try await Session.host(as: .maya, over: .stream, loop: server.loop) { _, port in
        let host = Endpoint(server.v4, port: port)
        let visitor = Visitor(on: world.addHost().loop)
        try await visitor.open(1, to: host)
        try await visitor.write(Array("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8), on: 0)
        _ = try await visitor.waitForEnd(of: 0)
        #expect(await !visitor.text(of: 0).contains("HTTP"))
      }
    }
  }

  @Test func `the 65th door of a source closes the oldest of that source`() async throws {
    try await withHost { world, host in
      let other = Visitor(on: world.addHost().loop)
      let visitor = Visitor(on: world.addHost().loop)
      try await other.open(1, to: host)
      try await visitor.open(64, to: host)
      try await world.sleep(for: .seconds(1))
      #expect(await visitor.ended == [])
      try await visitor.open(1, to: host)
      try await world.sleep(for: .seconds(1))
      #expect(await visitor.ended == [0])
      #expect(await other.ended == [])
    }
  }

  @Test func `the 513th door closes the oldest of all`() async throws {
    try await withHost { world, host in
      var visitors: [Visitor] = []
      for _ in 0..<8 {
        let visitor = Visitor(on: world.addHost().loop)
        visitors.append(visitor)
        try await visitor.open(64, to: host)
      }
      try await world.sleep(for: .seconds(1))
      for visitor in visitors { #expect(await visitor.ended == []) }
      let last = Visitor(on: world.addHost().loop)
      try await last.open(2, to: host)
      try await world.sleep(for: .seconds(1))
      #expect(await visitors[0].ended == [0, 1])
      for visitor in visitors.dropFirst() + [last] { #expect(await visitor.ended == []) }
    }
  }

  /// 300 handshakes of strangers at once are 100 more than a host begins at once.
  @Test func `WebSockets beyond the budget for handshakes wait, and none is refused`()
    async throws
  {
    try await withHost(security: .anyone) { world, host in
      var visitors: [Visitor] = []
      for _ in 0..<15 {
        let visitor = Visitor(on: world.addHost().loop)
        visitors.append(visitor)
        try await visitor.open(20, to: host)
      }
      let start = world.now
      for visitor in visitors { try await visitor.requestWebSockets(of: host) }
      try await world.sleep(for: .milliseconds(110))
      var answered = 0
      for visitor in visitors { answered += await visitor.answeredCount }
      #expect((200..<300).contains(answered))
      // A player waits as long, and is not refused, either.
      let client = world.addHost()
      try await Session.join([host], as: .leo, over: .stream, loop: client.loop) { _, _ in
        #expect(world.now - start > .milliseconds(125))
      }
      for visitor in visitors {
        #expect(await visitor.ended == [])
        #expect(await visitor.answeredCount == 20)
      }
    }
  }
}

/// Opens streams to a host, and records what arrives on each.
private actor Visitor: LoopActor {
  nonisolated let loop: NetworkLoop
  private var streams: [TCPStream] = []
  private var received: [[UInt8]] = []
  private var ends: [Int: Instant] = [:]

  init(on loop: NetworkLoop) { self.loop = loop }

  func open(_ count: Int, to host: Endpoint) async throws {
    for _ in 0..<count {
      let stream = try await TCPStream.connect(to: [host], on: loop)
      let index = streams.count
      streams.append(stream)
      received.append([])
      stream.setHandler(owner: self) { visitor, event in
        switch event {
        case .bytes(let bytes): visitor.received[index] += Array(copying: bytes)
        case .writable: break
        case .end, .closed: visitor.ends[index] = visitor.ends[index] ?? visitor.loop.now
        }
      }
    }
  }

  func write(_ bytes: [UInt8], on index: Int) throws { try streams[index].write(bytes) }

  func requestWebSockets(of host: Endpoint) throws {
    let lines = [
      "GET /carom HTTP/1.1", "Host: \(host)", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Protocol: carom",
    ]
    let request = Array((lines.map { "\($0)\r\n" }.joined() + "\r\n").utf8)
    for stream in streams { try stream.write(request) }
  }

  /// The number of streams that have become WebSockets.
  var answeredCount: Int { received.count { $0.starts(with: "HTTP/1.1 101 ".utf8) } }

  /// The number of streams on which something has arrived.
  var begunCount: Int { received.count { !$0.isEmpty } }

  /// The indices of the streams that the host has ended.
  var ended: [Int] { ends.keys.sorted() }

  func text(of index: Int) -> String { String(decoding: received[index], as: UTF8.self) }

  /// Returns the time at which the host ended a stream.
  func waitForEnd(of index: Int) async throws -> Instant {
    while true {
      if let end = ends[index] { return end }
      try await loop.sleep(until: loop.now + .milliseconds(10))
    }
  }
}
