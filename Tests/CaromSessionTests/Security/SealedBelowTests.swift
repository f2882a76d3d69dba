import CaromCore
import CaromProtocol
import CaromTransport
import Testing

@testable import CaromSession

/// Sessions whose streams a layer above encrypts, as one with TLS would. The streams here are in
/// plaintext: what is below a session is nothing that the session could know.
@Suite(.timeLimit(.minutes(1))) struct SealedBelowTests {
  @Test func `peers meet over streams that were encrypted below the session`() async throws {
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], security: .encryptedBelow, loops: 1
    ) { session, _ in
      #expect("\(SessionSecurity.encryptedBelow)" == "encrypted below")
      let endpoint = try await session.node.openDoor()
      try await withNetworkLoop { loop in
        let client = SessionNode(makePeer("client"), seats: 0, security: .encryptedBelow, on: loop)
        let events = Collector(on: loop)
        await events.watch(client)
        let connection = try await client.connectSealed(to: endpoint)
        let peer = await session.joined()
        #expect(peer.name == "client" && "\(peer.protection)" == "encrypted below")
        #expect(peer.protection.isBelow && peer.protection.policy == .none)
        let (own, security) = await (
          client.protection(of: connection), client.security(of: connection)
        )
        #expect(own.isBelow && security == nil)
        try await peer.send(Note([1, 2, 3]), on: .notes)
        try await client.sendNote([4, 5], to: connection)
        let notes = await session.messages(on: .notes).first(1)
        #expect(notes.map(\.text) == [[4, 5]])
        _ = try await events.first { if case .message = $0 { true } else { false } }
        #expect(await events.messages == [[1, 2, 3]])
        await client.shutdown()
      }
      #expect(await session.ending() == .left)
    }
  }

  @Test(arguments: [SessionSecurity.none, .anyone])
  func `a stream that nobody has encrypted is refused, and there are no datagrams`(
    security: SessionSecurity
  ) async throws {
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], over: .all, security: .encryptedBelow, loops: 1
    ) { session, port in
      #expect(await !session.node.hasDatagrams)
      await withNetworkLoop { loop in
        for kinds in [LinkKinds.all, .stream] {
          _ = await #expect(throws: SessionError.refused(.securityMismatch)) {
            try await Session.join(
              [Endpoint(.loopback4, port: port)], as: makePeer("client"), over: kinds,
              security: security, loop: loop
            ) { _, _ in }
          }
        }
      }
      #expect(await session.node.peers.isEmpty)
    }
  }

  @Test func `a client that needs it says nothing on a stream that it opens itself`() async throws {
    try await withPair(over: .stream) { pair in
      _ = await #expect(throws: SessionError.refused(.securityMismatch)) {
        try await Session.join(
          pair.endpoints, as: makePeer("careful"), security: .encryptedBelow, loop: pair.loop
        ) { _, _ in }
      }
      #expect(await pair.hosting.node.peers.map(\.info.name) == ["client"])
    }
  }

  @Test func `a node that was shut down resets the streams that it is given`() async throws {
    try await withNetworkLoop { loop in
      let node = SessionNode(makePeer("host"), seats: 1, security: .encryptedBelow, on: loop)
      await node.shutdown()
      let endpoint = try await node.openDoor()
      let client = SessionNode(makePeer("client"), seats: 0, security: .encryptedBelow, on: loop)
      // The reset may arrive while the stream is being opened.
      await #expect(throws: (any Error).self) { try await client.connectSealed(to: endpoint) }
      #expect(await node.peers.isEmpty)
      await node.closeDoor()
      let other = SessionNode(makePeer("other"), seats: 1, security: .encryptedBelow, on: loop)
      let open = try await other.openDoor()
      await client.shutdown()
      await #expect(throws: SessionError.transport(.cancelled)) {
        try await client.connectSealed(to: open)
      }
      await other.shutdown()
    }
  }
}

extension SessionNode {
  fileprivate var hasDatagrams: Bool { !sockets.datagrams.isEmpty }

  /// Accepts streams as a layer that decrypts them would, and returns the endpoint to connect to.
  fileprivate func openDoor() throws(TransportError) -> Endpoint {
    let door = try TCPListener(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      node, event in
      if case .accepted(let stream) = event { node.accept(stream, isSealed: true) }
    }
    sockets.listeners.append(door)
    return door.localEndpoint
  }

  fileprivate func closeDoor() { sockets.closeListeners() }

  /// Opens a stream as a layer that encrypts it would, and requests a seat on it.
  fileprivate func connectSealed(to endpoint: Endpoint) async throws -> ConnectionID {
    let stream = try await TCPStream.connect(to: [endpoint], on: loop)
    return try await connect(over: stream)
  }

  fileprivate func sendNote(_ bytes: [UInt8], to connection: ConnectionID) throws {
    try send(Note(bytes), on: MessageChannel<Note>.notes, to: connection)
  }
}
