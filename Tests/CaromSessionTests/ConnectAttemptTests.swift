import CaromCore
import CaromTransport
import Testing

@testable import CaromProtocol
@testable import CaromSession

@Suite(.timeLimit(.minutes(1))) struct ConnectAttemptTests {
  @Test func `a failed attempt leaves no state`() async {
    await withNetworkLoop { loop in
      let client = SessionNode(makePeer("client"), seats: 0, over: .stream, on: loop)
      // No process listens at this address.
      let nobody = Endpoint(IPAddress("127.77.0.1")!, port: 9)
      await #expect(throws: SessionError.transport(.connectionRefused)) {
        try await client.connect(to: [nobody])
      }
      #expect(await !client.isDialing)
      await client.shutdown()
    }
  }

  @Test func `an attempt that is cancelled before its stream opens leaves no state`() async throws {
    try await withHost { endpoints, loop in
      let client = SessionNode(makePeer("client"), seats: 0, over: .stream, on: loop)
      let attempt = Task(executorPreference: loop) { try await client.connect(to: endpoints) }
      attempt.cancel()
      await #expect(throws: SessionError.transport(.cancelled)) { try await attempt.value }
      #expect(await !client.isDialing)
      await client.shutdown()
    }
  }

  @Test func `a stream that opens just before its attempt is cancelled asks for no seat`()
    async throws
  {
    try await withHost { endpoints, loop in
      let client = SessionNode(makePeer("client"), seats: 0, over: .stream, on: loop)
      try await client.abandonWhileStreamOpens(to: endpoints)
      #expect(await !client.hasConnections)
      #expect(await !client.isDialing)
      await client.shutdown()
    }
  }

  @Test(arguments: [LinkKinds.stream, .datagram])
  func `a host keeps no seat for an attempt that is cancelled while it asks for one`(
    kinds: LinkKinds
  ) async throws {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 1, over: kinds, on: loop)
      let events = Collector(on: loop)
      await events.watch(host)
      let endpoints = [Endpoint(.loopback4, port: try await host.listen(on: [.loopback4]))]
      let client = SessionNode(makePeer("client"), seats: 0, over: kinds, on: loop)
      let attempt = Task(executorPreference: loop) { try await client.connect(to: endpoints) }
      _ = try await events.first(\.isRequest)
      attempt.cancel()
      guard case .closed(_, _, let reason, _) = try await events.first(\.isEnd) else { return }
      #expect(reason == .left)
      await #expect(throws: SessionError.transport(.cancelled)) { try await attempt.value }
      await client.shutdown()
      await host.shutdown()
    }
  }

  @Test func `connect throws if the node is shut down while the stream opens`() async throws {
    try await withHost { endpoints, loop in
      let client = SessionNode(makePeer("client"), seats: 0, over: .stream, on: loop)
      let error = try await client.retireWhileStreamOpens(to: endpoints)
      #expect(error == .transport(.cancelled))
      await client.shutdown()
    }
  }

  @Test func `a UDP port without a listener is refused`() async {
    await withNetworkLoop { loop in
      var timing = SessionTiming()
      timing.handshakeLimit = .seconds(60)  // far more than the three reports take
      let client = SessionNode(
        makePeer("client"), seats: 0, timing: timing, over: .datagram, on: loop)
      await #expect(throws: SessionError.transport(.connectionRefused)) {
        try await client.connect(to: [
          Endpoint(IPAddress("127.77.0.2")!, port: 9), Endpoint(IPAddress("127.77.0.3")!, port: 9),
        ])
      }
      #expect(await !client.isDialing)
      await client.shutdown()
    }
  }

  @Test(arguments: [LinkKinds.datagram, .all])
  func `a port without a listener is known within a second`(kinds: LinkKinds) async throws {
    await withNetworkLoop { loop in
      var timing = SessionTiming()
      timing.handshakeLimit = .seconds(60)  // a busy machine must not be taken for a silent host
      let client = SessionNode(
        makePeer("client"), seats: 0, timing: timing, over: kinds, on: loop)
      var fastest = Duration.seconds(60)
      // A busy machine delays some of the reports.
      for _ in 0..<8 where fastest >= .seconds(1) {
        let start = loop.now
        await #expect(throws: SessionError.transport(.connectionRefused)) {
          try await client.connect(to: [Endpoint(IPAddress("127.77.0.5")!, port: 9)])
        }
        fastest = min(fastest, loop.now - start)
      }
      #expect(fastest < .seconds(1))
      await client.shutdown()
    }
  }

  @Test func `datagrams to each address family have one socket of that family`() async {
    await withNetworkLoop { loop in
      let client = SessionNode(makePeer("client"), seats: 0, over: .datagram, on: loop)
      var sockets: [Int?] = []
      for address in [IPAddress.loopback4, .loopback6, .loopback4, .loopback6] {
        sockets.append(await client.socket(for: Endpoint(address, port: 9)))
      }
      #expect(sockets == [0, 1, 0, 1])
      await client.shutdown()
    }
  }

  @Test func `of several endpoints, one that does not refuse is waited for`() async throws {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 1, on: loop)
      let events = Collector(on: loop)
      await events.watch(host, admitsAll: true)
      let port = try await host.listen(on: [.loopback4])
      let client = SessionNode(makePeer("client"), seats: 0, over: .datagram, on: loop)
      let nobody = Endpoint(IPAddress("127.77.0.4")!, port: 9)
      _ = try await client.connect(to: [nobody, Endpoint(.loopback4, port: port)])
      await client.shutdown()
      await host.shutdown()
    }
  }

  @Test(arguments: [
    (DisconnectReason.full, SessionError.refused(.full)),
    (.declined("why"), .refused(.declined("why"))),
    (.versionMismatch(theirs: 9), .refused(.versionMismatch(theirs: 9))),
    (.handshakeTimeout, .transport(.connectionRefused)),
    (.connectionReset, .transport(.connectionRefused)),
  ])
  func `the host's word counts more than a stream that failed`(
    reason: DisconnectReason, error: SessionError
  ) async {
    await withNetworkLoop { loop in
      let client = SessionNode(makePeer("client"), seats: 0, on: loop)
      #expect(await client.errorAfterFailedStream(closedAs: reason) == error)
      await client.shutdown()
    }
  }

  @Test(arguments: [LinkKinds.all, .datagram, .stream])
  func `a player who searches for another takes no spectators`(kinds: LinkKinds) async throws {
    try await withNetworkLoop { loop in
      let seeker = SessionNode(
        matching: makePeer("seeker"), window: .seconds(60), over: kinds, seed: 1, on: loop)
      let port = try await seeker.listen(on: [.loopback4])
      let fan = SessionNode(makePeer("fan", isSpectator: true), seats: 0, over: kinds, on: loop)
      await #expect(throws: SessionError.refused(.full)) {
        try await fan.connect(to: [Endpoint(.loopback4, port: port)])
      }
      await fan.shutdown()
      await seeker.shutdown()
    }
  }

  @Test func `connect over datagrams throws if it cannot use any endpoint`() async {
    await withNetworkLoop { loop in
      let client = SessionNode(makePeer("client"), seats: 0, over: .datagram, on: loop)
      await #expect(throws: SessionError.transport(.unreachable)) {
        try await client.connect(to: [])
      }
      #expect(await !client.isDialing)
      await client.shutdown()
    }
  }

  @Test(arguments: [LinkKinds.stream, .datagram])
  func `an attempt that the matchmaker cancels leaves no state`(kinds: LinkKinds) async throws {
    try await withHost { endpoints, loop in
      let seeker = SessionNode(
        matching: makePeer("seeker"), window: .seconds(6), over: kinds, seed: 1, on: loop)
      await seeker.timeOutWhileConnecting(to: endpoints)
      #expect(await !seeker.isDialing)
      await seeker.shutdown()
    }
  }

  /// Runs `body` with the endpoints of a host that admits no peer.
  private func withHost(
    _ body: ([Endpoint], NetworkLoop) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 1, on: loop)
      let port = try await host.listen(on: [.loopback4])
      try await body([Endpoint(.loopback4, port: port)], loop)
      await host.shutdown()
    }
  }
}

extension SessionNode {
  /// Whether there are connections, open or not.
  var hasConnections: Bool { !lobby.connectionIDs.isEmpty }

  fileprivate var isDialing: Bool { !dials.isEmpty }

  /// Begins an attempt and abandons it when the stream has opened, but before the node knows.
  fileprivate func abandonWhileStreamOpens(to endpoints: [Endpoint]) async throws {
    let stream = try await TCPStream.connect(to: endpoints, on: loop)
    let connection = lobby.makeConnectionID()
    open(connection, to: endpoints)
    abandon(connection)
    streamConnected(stream, as: connection)
  }

  /// Begins an attempt and retires when the stream has opened, but before the node knows. Returns
  /// the error of the attempt.
  fileprivate func retireWhileStreamOpens(to endpoints: [Endpoint]) async throws -> SessionError? {
    let stream = try await TCPStream.connect(to: endpoints, on: loop)
    let connection = lobby.makeConnectionID()
    return await withCheckedContinuation { continuation in
      dials[connection] = Dial(to: endpoints, on: loop, waiter: continuation)
      retire()
      streamConnected(stream, as: connection)
    }
  }

  /// Begins an attempt whose stream fails, and whose connection then ends with `reason`. Returns
  /// the error of the attempt.
  fileprivate func errorAfterFailedStream(
    closedAs reason: DisconnectReason
  ) async -> SessionError? {
    let connection = lobby.makeConnectionID()
    return await withCheckedContinuation { continuation in
      dials[connection] = Dial(to: [], on: loop, waiter: continuation)
      dials[connection]?.failure = .connectionRefused
      end(connection, reason)
    }
  }

  /// Finds a host and begins to connect to it, until the matchmaker gives up.
  fileprivate func timeOutWhileConnecting(to endpoints: [Endpoint]) {
    let host = Sighting(id: .random(), status: .hosting, freeSeats: 1)
    addHost(host)
    var attempt: ConnectionID?
    while let event = poll() {
      if case .connect(host.id, let connection) = event { attempt = connection }
    }
    guard let attempt else {
      Issue.record("the node does not connect to the host")
      return
    }
    open(attempt, to: endpoints)
    lobby.handleTimeout(at: loop.now + Matchmaker.dialLimit)
    drain()
  }
}

extension SessionEvent {
  fileprivate var isEnd: Bool { if case .closed = self { true } else { false } }
}
