import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// Sessions of a frame loop, which polls and never waits.
@Suite struct SessionPollerTests {
  /// Polls once per frame until an event for which `isWanted` returns true.
  private func poll(
    _ poller: SessionPoller, until isWanted: (SessionPoller.Event) -> Bool
  ) async throws -> SessionPoller.Event {
    while true {
      while let event = poller.poll() {
        if isWanted(event) { return event }
      }
      try await poller.loop.sleep(until: poller.loop.now + .milliseconds(1))
    }
  }

  private func host() async throws -> (poller: SessionPoller, endpoint: Endpoint) {
    let poller = try SessionPoller.host(as: makePeer("host"), on: [.loopback4])
    let event = try await poll(poller) { _ in true }
    guard case .listening(let port) = event else { throw SessionError.refused(.connectionLost) }
    return (poller, Endpoint(.loopback4, port: port))
  }

  private static func isJoined(_ event: SessionPoller.Event) -> Bool {
    if case .peer(.joined) = event { true } else { false }
  }

  @Test func `a host and a client are polled for events and messages`() async throws {
    let (host, endpoint) = try await host()
    let client = try SessionPoller.join([endpoint], as: makePeer("client"))
    let joined = try await poll(client, until: Self.isJoined)
    guard case .peer(.joined(let server)) = joined else { return }
    #expect(server.name == "host")
    _ = try await poll(host, until: Self.isJoined)
    #expect(client.post(Note([1]), on: .notes))
    #expect(server.post(Note([2]), on: .notes))
    var notes: [[UInt8]] = []
    while notes.count < 2 {
      notes += host.takeMessages(on: .notes).map(\.message.text)
      try await host.loop.sleep(until: host.loop.now + .milliseconds(1))
    }
    #expect(notes == [[1], [2]])
    #expect(host.post(Note([3]), on: .notes))
    while client.takeMessages(on: .notes).isEmpty {
      try await host.loop.sleep(until: host.loop.now + .milliseconds(1))
    }
    client.close()
    let left = try await poll(host) { if case .peer(.left) = $0 { true } else { false } }
    guard case .peer(.left(let peer, let reason)) = left else { return }
    #expect(peer.name == "client" && reason == .finished)
    host.close()
    host.close()  // a second call returns at once
  }

  @Test func `a join that fails is an event`() async throws {
    let endpoint = Endpoint(.v4(127 << 24 | 77 << 16 | 14 << 8 | 1), port: 7_777)
    // A busy machine may delay the refusal for longer than the limits are by default.
    var timing = SessionTiming()
    timing.handshakeLimit = .seconds(600)
    let poller = try SessionPoller.join(
      [endpoint], as: makePeer("client"), timing: timing, within: .seconds(600))
    let event = try await poll(poller) { _ in true }
    #expect(event == .failed(.transport(.connectionRefused)))
    #expect(poller.session == nil)
    #expect(!poller.post(Note([1]), on: .notes))
    #expect(poller.takeMessages(on: .notes).isEmpty)
    poller.close()
  }

  @Test(arguments: [true, false])
  func `a poller takes the security and the conditions of its session`(
    isEncrypted: Bool
  ) async throws {
    let slow = LinkProfile("slow", LinkConditions(oneWay: .milliseconds(20)))
    let host = try SessionPoller.host(
      as: makePeer("host"), on: [.loopback4], security: .anyone, conditions: slow)
    let listening = try await poll(host) { _ in true }
    guard case .listening(let port) = listening else {
      Issue.record("\(listening)")
      return
    }
    let client = try SessionPoller.join(
      [Endpoint(.loopback4, port: port)], as: makePeer("client"),
      security: isEncrypted ? .anyone : .none)
    let event = try await poll(client) { _ in true }
    if isEncrypted, case .peer(.joined(let peer)) = event {
      // The host's conditions delay its datagrams and those that it receives.
      let isDelivered = try await peer.sendConfirmed(Note([1]), on: .notes)
      let roundTrip = try #require(await peer.roundTrip?.latest)
      #expect(isDelivered && roundTrip >= .milliseconds(40))
    } else {
      #expect(!isEncrypted && event == .failed(.refused(.securityMismatch)))
    }
    client.close()
    host.close()
  }

  @Test func `a host whose port is taken fails`() async throws {
    let (first, endpoint) = try await host()
    let second = try SessionPoller.host(
      as: makePeer("second"), port: endpoint.port, on: [.loopback4])
    let event = try await poll(second) { _ in true }
    #expect(event == .failed(.transport(.addressInUse(port: endpoint.port))))
    second.close()
    first.close()
  }

  @Test func `a join that nobody answers can be closed`() async throws {
    try await withNetworkLoop { loop in
      let silent = SilentSocket(on: loop)
      let endpoint = try await silent.open()
      let poller = try SessionPoller.join([endpoint], as: makePeer("client"), over: .datagram)
      #expect(poller.poll() == nil)
      poller.close()
      #expect(poller.poll() == nil)
    }
  }

  @Test func `a poller that is released ends its session`() async throws {
    let (host, endpoint) = try await host()
    var client: SessionPoller? = try SessionPoller.join([endpoint], as: makePeer("client"))
    if let client { _ = try await poll(client, until: Self.isJoined) }
    client = nil
    let left = try await poll(host) { if case .peer(.left) = $0 { true } else { false } }
    guard case .peer(.left(_, let reason)) = left else { return }
    #expect(reason == .finished)
    host.close()
  }
}

/// A socket that receives datagrams and answers none.
private actor SilentSocket: LoopActor {
  nonisolated let loop: NetworkLoop
  private var socket: UDPSocket?

  init(on loop: NetworkLoop) { self.loop = loop }

  func open() throws(TransportError) -> Endpoint {
    let socket = try UDPSocket(
      on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)
    ) { _, _ in }
    self.socket = socket
    return socket.localEndpoint
  }
}
