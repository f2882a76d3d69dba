import CaromCore
@testable import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// A host and a client on loopback sockets, not connected yet.
private struct NodePair {
  let loop: NetworkLoop
  let host: SessionNode
  let hostEvents: Collector
  let client: SessionNode
  let clientEvents: Collector
  let port: UInt16

  init(
    on loop: NetworkLoop, seats: Int = 1, timing: SessionTiming = SessionTiming()
  ) async throws {
    self.loop = loop
    host = SessionNode(makePeer("host"), seats: seats, timing: timing, on: loop)
    hostEvents = Collector(on: loop)
    await hostEvents.watch(host, admitsAll: true)
    client = SessionNode(makePeer("client"), seats: 0, on: loop)
    clientEvents = Collector(on: loop)
    await clientEvents.watch(client)
    port = try await host.listen(on: [.loopback4], port: 0)
  }

  var endpoints: [Endpoint] { [Endpoint(.loopback4, port: port)] }
}

@Suite struct SessionNodeTests {
  @Test func `a client joins, and both sides measure the round trip`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      let connection = try await pair.client.connect(to: pair.endpoints)
      _ = try await pair.hostEvents.first(\.isMeasured)
      _ = try await pair.clientEvents.first(\.isMeasured)
      #expect(try await pair.hostEvents.opened().1.name == "client")
      #expect(await pair.client.roundTrip(to: connection)?.smoothed != nil)
      await pair.client.shutdown()
      await pair.host.shutdown()
    }
  }

  @Test func `messages arrive once and in order in both directions`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      let connection = try await pair.client.connect(to: pair.endpoints)
      let back = try await pair.hostEvents.opened().0
      for number in 0..<200 {
        try await pair.client.send(Note([UInt8(number)]), on: .notes, to: connection)
        try await pair.host.send(Note([UInt8(number), 1]), on: .notes, to: back)
      }
      await pair.client.shutdown(Goodbye(.finished))
      #expect(try await pair.hostEvents.ending() == .finished)
      #expect(await pair.hostEvents.messages == (0..<200).map { [UInt8($0)] })
      await pair.host.shutdown()
    }
  }

  @Test func `a message larger than the socket buffer arrives whole`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      let connection = try await pair.client.connect(to: pair.endpoints)
      let large = [UInt8](repeating: 9, count: 900_000)
      try await pair.client.send(Note(large), on: .notes, to: connection)
      let event = try await pair.hostEvents.first { if case .message = $0 { true } else { false } }
      guard case .message(_, 0, let bytes) = event else { return }
      #expect(bytes == large)
      await pair.client.shutdown()
      await pair.host.shutdown()
    }
  }

  @Test func `a client beyond the last seat is refused as full`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      _ = try await pair.client.connect(to: pair.endpoints)
      let third = SessionNode(makePeer("third"), seats: 0, on: loop)
      await #expect(throws: SessionError.refused(.full)) {
        try await third.connect(to: pair.endpoints)
      }
      #expect(await pair.host.peers.count == 1)
      await third.shutdown()
      await pair.client.shutdown()
      await pair.host.shutdown()
    }
  }

  @Test func `a peer that yields its seat is replaced`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      let computer = SessionNode(makePeer("computer", yields: true), seats: 0, on: loop)
      let observer = Collector(on: loop)
      await observer.watch(computer)
      _ = try await computer.connect(to: pair.endpoints)
      _ = try await pair.client.connect(to: pair.endpoints)
      #expect(try await observer.ending() == .replaced)
      #expect(await pair.host.peers.map(\.info.name) == ["client"])
      for node in [computer, pair.client, pair.host] { await node.shutdown() }
    }
  }

  @Test func `a reset stream is reported once, as connectionReset`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop, timing: .withoutResuming)
      let stream = try await RawPeer.sitDown(at: pair.endpoints, on: loop)
      _ = try await pair.hostEvents.opened()
      await stream.reset()
      #expect(try await pair.hostEvents.ending() == .connectionReset)
      await pair.host.shutdown()
      let endings = await pair.hostEvents.events.count(where: \.isLoss)
      #expect(endings == 1)
    }
  }

  @Test func `a stream that ends without a goodbye is reported as connectionLost`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop, timing: .withoutResuming)
      let stream = try await RawPeer.sitDown(at: pair.endpoints, on: loop)
      _ = try await pair.hostEvents.opened()
      await stream.finish()
      #expect(try await pair.hostEvents.ending() == .connectionLost)
      await pair.host.shutdown()
    }
  }

  @Test func `a peer whose stream ends is interrupted and keeps its seat, by default`() async throws
  {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      let stream = try await RawPeer.sitDown(at: pair.endpoints, on: loop)
      _ = try await pair.hostEvents.opened()
      await stream.reset()
      let event = try await pair.hostEvents.first { event in
        switch event {
        case .interrupted, .closed: true
        default: false
        }
      }
      if case .interrupted = event {} else { Issue.record("the peer's connection was closed") }
      #expect(await pair.host.peers.map(\.info.name) == ["raw"])
      await #expect(throws: SessionError.refused(.full)) {
        try await pair.client.connect(to: pair.endpoints)
      }
      await pair.client.shutdown()
      await pair.host.shutdown()
    }
  }

  @Test func `connecting to a port without a listener throws connectionRefused`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      // Another process may reuse a free port at any time, but no process listens at this address.
      let elsewhere = Endpoint(IPAddress("127.77.0.1")!, port: pair.endpoints[0].port)
      await #expect(throws: SessionError.transport(.connectionRefused)) {
        try await pair.client.connect(to: [elsewhere])
      }
      await pair.host.shutdown()
    }
  }

  @Test func `a host that does not answer in time may be overloaded, and still speaks Carom`()
    async throws
  {
    try await withNetworkLoop { loop in
      let busy = SessionNode(makePeer("busy"), seats: 1, on: loop)  // admits no peer
      let endpoints = [Endpoint(.loopback4, port: try await busy.listen(on: [.loopback4]))]
      var timing = SessionTiming()
      timing.handshakeLimit = .milliseconds(100)
      for kinds in [LinkKinds.datagram, .stream, .all] {
        let client = SessionNode(
          makePeer("client"), seats: 0, timing: timing, over: kinds, on: loop)
        let error = await #expect(throws: SessionError.self) {
          try await client.connect(to: endpoints)
        }
        #expect(error?.description.contains("may be overloaded") == true, "\(error as Any)")
        await client.shutdown()
      }
      await busy.shutdown()
    }
  }

  @Test func `listening on a taken port throws addressInUse`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      let other = SessionNode(makePeer("other"), seats: 1, on: loop)
      await #expect(throws: TransportError.addressInUse(port: pair.port)) {
        try await other.listen(on: [.loopback4], port: pair.port)
      }
      await pair.host.shutdown()
    }
  }
}

@Suite struct SessionNodeLifeTests {
  #if DEBUG
    static let rounds = 50
  #else
    static let rounds = 1_000
  #endif

  @Test func `sixty-four hosts in one process do not affect each other`() async throws {
    try await withNetworkLoop { loop in
      var pairs: [NodePair] = []
      for number in 0..<64 {
        let pair = try await NodePair(on: loop)
        let connection = try await pair.client.connect(to: pair.endpoints)
        try await pair.client.send(Note([UInt8(number)]), on: .notes, to: connection)
        pairs.append(pair)
      }
      for (number, pair) in pairs.enumerated() {
        _ = try await pair.hostEvents.first { if case .message = $0 { true } else { false } }
        #expect(await pair.hostEvents.messages == [[UInt8(number)]])
        await pair.client.shutdown()
        await pair.host.shutdown()
      }
    }
  }

  @Test func `a shut-down node has no peers, and shutting down twice is harmless`()
    async throws
  {
    try await withNetworkLoop { loop in
      for _ in 0..<Self.rounds {
        let pair = try await NodePair(on: loop)
        _ = try await pair.client.connect(to: pair.endpoints)
        await pair.client.shutdown()
        await pair.client.shutdown()
        await pair.host.shutdown()
        #expect(await pair.client.peers.isEmpty)
        await #expect(throws: SendError.notConnected) {
          try await pair.client.send(Note([1]), on: .notes, to: ConnectionID.none)
        }
      }
    }
  }

  @Test func `calls for an unknown connection change nothing`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      await pair.host.admit(.none)
      await pair.host.close(.none, Goodbye(.left))
      await pair.host.failConnect(.none)
      _ = try await pair.client.connect(to: pair.endpoints)
      #expect(await pair.host.peers.count == 1)
      await pair.client.shutdown()
      await pair.host.shutdown()
    }
  }

  @Test func `a new handler continues where the old one stopped`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      let connection = try await pair.client.connect(to: pair.endpoints)
      _ = try await pair.hostEvents.opened()
      var collectors: [Collector] = []
      for number in 0..<100 {
        try await pair.client.send(Note([UInt8(number)]), on: .notes, to: connection)
        if number % 10 == 0 {
          let next = Collector(on: loop)
          await next.watch(pair.host)
          collectors.append(next)
        }
      }
      await pair.client.shutdown(Goodbye(.finished))
      _ = try await collectors.last?.ending()
      var heard = await pair.hostEvents.messages
      for collector in collectors { heard += await collector.messages }
      #expect(heard == (0..<100).map { [UInt8($0)] })
      await pair.host.shutdown()
    }
  }

  @Test func `a shut-down node throws cancelled from connect`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      await pair.client.shutdown()
      await #expect(throws: SessionError.transport(.cancelled)) {
        try await pair.client.connect(to: pair.endpoints)
      }
      await pair.host.shutdown()
    }
  }

  @Test func `a cancelled connect throws and leaves no connection`() async throws {
    try await withNetworkLoop { loop in
      let pair = try await NodePair(on: loop)
      let silent = SessionNode(makePeer("silent"), seats: 1, on: loop)  // admits no peer
      let port = try await silent.listen(on: [.loopback4])
      let attempt = Task(executorPreference: loop) {
        try await pair.client.connect(to: [Endpoint(.loopback4, port: port)])
      }
      let observer = Collector(on: loop)
      await observer.watch(silent)
      _ = try await observer.first { if case .requested = $0 { true } else { false } }
      attempt.cancel()
      await #expect(throws: SessionError.transport(.cancelled)) { try await attempt.value }
      await silent.shutdown()
      await pair.host.shutdown()
    }
  }
}

extension ConnectionID {
  /// The id of a connection that was never opened.
  fileprivate static var none: ConnectionID { ConnectionID(999_999) }
}
