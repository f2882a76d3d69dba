import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

@Suite struct PollingTests {
  @Test func `a game loop polls events and messages from any thread`() async throws {
    try await withNetworkLoop { loop in
      // With one kind of link the link never changes.
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], over: .stream, loop: loop
      ) { hosting, port in
        let endpoints = [Endpoint(.loopback4, port: port)]
        try await Session.join(
          endpoints, as: makePeer("client"), over: .stream, loop: loop
        ) { _, host in
          try await host.sendConfirmed(Note([1]), on: .notes).expectTrue()
          try await host.sendConfirmed(Note([2]), on: .notes).expectTrue()
        }
        var log: [String] = []
        while log.count < 4 {  // frames
          log += hosting.takeMessages(on: .notes).map { "note \($0.message.text)" }
          while let event = hosting.poll() { log.append(Self.describe(event)) }
          try await nextFrame()
        }
        #expect(Set(log) == ["joined client", "note [1]", "note [2]", "left finished"])
      }
    }
  }

  private static func describe(_ event: PeerEvent) -> String {
    switch event {
    case .joined(let peer): "joined \(peer.name)"
    case .left(_, let reason): "left \(reason)"
    default: "other"
    }
  }

  @Test func `a node without a handler returns events and messages in order when polled`()
    async throws
  {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 1, on: loop)
      let port = try await host.listen(on: [.loopback4])
      let client = SessionNode(makePeer("client"), seats: 0, on: loop)
      async let seated = client.connect(to: [Endpoint(.loopback4, port: port)])
      var log: [String] = []
      while !log.contains("requested") { log += await host.pollAll() }
      let connection = try await seated
      for number in 1...3 {
        try await client.send(Note([UInt8(number)]), on: .notes, to: connection)
      }
      await client.shutdown(Goodbye(.finished))
      while log.last?.hasPrefix("closed") != true { log += await host.pollAll() }
      #expect(
        log.filter { $0 != "measured" }
          == ["requested", "opened", "[1]", "[2]", "[3]", "closed finished"])
      await host.shutdown()
    }
  }

  @Test func `poll returns the messages of the peers in turn`() async throws {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 2, on: loop)
      let port = try await host.listen(on: [.loopback4])
      var clients: [(node: SessionNode, connection: ConnectionID)] = []
      for name in ["first", "second"] {
        let client = SessionNode(makePeer(name), seats: 0, on: loop)
        async let seated = client.connect(to: [Endpoint(.loopback4, port: port)])
        while await !host.pollAll().contains("requested") { try await nextFrame() }
        clients.append((client, try await seated))
      }
      for (sender, client) in clients.enumerated() {
        for number in 1...3 {
          let note = Note([UInt8(sender), UInt8(number)])
          try await client.node.sendConfirmed(note, on: .notes, to: client.connection).expectTrue()
        }
      }
      let messages = await host.pollAll().filter { $0.hasPrefix("[") }
      #expect(messages == ["[0, 1]", "[1, 1]", "[0, 2]", "[1, 2]", "[0, 3]", "[1, 3]"])
      for node in clients.map(\.node) + [host] { await node.shutdown() }
    }
  }

  @Test func `a message handler gets the bytes of every message and replaces message events`()
    async throws
  {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 1, on: loop)
      let events = Collector(on: loop)
      await events.watch(host, admitsAll: true)
      let counter = ByteCounter(on: loop)
      await counter.watch(host)
      let port = try await host.listen(on: [.loopback4])
      let client = SessionNode(makePeer("client"), seats: 0, on: loop)
      let connection = try await client.connect(to: [Endpoint(.loopback4, port: port)])
      for number in 1...100 {
        try await client.send(Note(.init(repeating: 1, count: number)), on: .notes, to: connection)
      }
      await client.shutdown()
      _ = try await events.ending()
      #expect(await counter.bytes == 5050)
      #expect(await events.messages.isEmpty)
      await host.shutdown()
    }
  }

  @Test func `messages posted from other threads arrive`() async throws {
    try await withPair { pair in
      for number in 0..<100 { #expect(pair.host.post(Note([UInt8(number)]), on: .notes)) }
      let read = await pair.hosting.messages(on: .notes).first(100)
      #expect(read == (0..<100).map { Note([UInt8($0)]) })
      #expect(pair.hosting.post(Note([1]), on: .notes))
      #expect(await pair.visiting.messages(on: .notes).first(1) == [Note([1])])
      #expect(!pair.host.post(Note(.init(repeating: 1, count: 2 << 20)), on: .notes))
    }
  }

  @Test func `the newest message is returned once`() async throws {
    try await withPair { pair in
      let states = pair.host.latest(on: .latest)
      for number in 1...5 {
        try await pair.client.sendConfirmed(Note([UInt8(number)]), on: .latest).expectTrue()
      }
      #expect(states.take() == Note([5]))
      #expect(states.take() == nil)
    }
  }

  @Test func `taking one peer's newest message leaves the other peer's for its reader`()
    async throws
  {
    try await withPair(seats: 2) { pair in
      try await Session.join(pair.endpoints, as: makePeer("second"), loop: pair.loop) { _, host in
        let second = await pair.hosting.joined()
        let states = pair.client.latest(on: .latest)
        let secondStates = second.latest(on: .latest)
        for number in 1...3 {
          try await pair.host.sendConfirmed(Note([UInt8(number)]), on: .latest).expectTrue()
          try await host.sendConfirmed(Note([UInt8(10 + number)]), on: .latest).expectTrue()
        }
        #expect(states.take() == Note([3]))
        #expect(secondStates.take() == Note([13]))
        #expect(states.take() == nil && secondStates.take() == nil)
      }
    }
  }

  @Test func `a peer that has left leaves no message in the inbox`() async throws {
    try await withPair(seats: 2) { pair in
      let states = pair.client.latest(on: .latest)
      try await Session.join(pair.endpoints, as: makePeer("second"), loop: pair.loop) { _, host in
        try await host.sendConfirmed(Note([1]), on: .latest).expectTrue()
      }
      _ = await pair.hosting.ending()
      #expect(states.take() == nil)
      #expect(pair.hosting.takeMessages(on: .latest).isEmpty)
    }
  }
}

extension SessionNode {
  /// All events so far, as text. Admits every peer.
  fileprivate func pollAll() -> [String] {
    var log: [String] = []
    while let event = poll() {
      switch event {
      case .requested(let connection, _, _):
        admit(connection)
        log.append("requested")
      case .opened: log.append("opened")
      case .message(_, _, let bytes): log.append("\(bytes)")
      case .closed(_, _, let reason, _): log.append("closed \(reason)")
      default: log.append("measured")
      }
    }
    return log
  }
}

private actor ByteCounter: LoopActor {
  nonisolated let loop: NetworkLoop
  private(set) var bytes = 0

  init(on loop: NetworkLoop) { self.loop = loop }

  func watch(_ node: SessionNode) async {
    await node.setMessageHandler(owner: self) { counter, message in
      counter.bytes += message.bytes.count
    }
  }
}
