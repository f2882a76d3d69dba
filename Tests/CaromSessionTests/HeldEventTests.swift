import CaromCore
import CaromTransport
import Testing

@testable import CaromProtocol
@testable import CaromSession

/// Events and messages that a node without a handler holds until they are polled.
@Suite(.timeLimit(.minutes(1))) struct HeldEventTests {
  @Test func `4,096 events are held; a further one replaces the oldest, except a measurement`() {
    var feed = EventFeed()
    let events = (0...4_096).map { SessionEvent.interrupted(ConnectionID($0)) }
    for event in events.dropLast() { #expect(feed.hold(event) == nil) }
    #expect(feed.hold(.measured(ConnectionID(1), RoundTrip())) == nil)
    #expect(Array(feed.held) == Array(events.dropLast()))
    #expect(feed.hold(events[4_096]) == events[0])
    #expect(Array(feed.held) == Array(events.dropFirst()))
  }

  @Test(arguments: [LinkKinds.stream, .datagram])
  func `polling a closed event drops the messages of paused channels`(kinds: LinkKinds)
    async throws
  {
    try await withHost(over: kinds) { host, client, connection in
      await client.shutdown()
      while await host.poll()?.endedConnection == nil { try await nextFrame() }
      while await host.hasConnections { try await nextFrame() }
      #expect(await !host.hasUndeliveredMessages)
    }
  }

  @Test(arguments: [LinkKinds.stream, .datagram])
  func `a closed event that is no longer held drops the messages of its connection`(
    kinds: LinkKinds
  ) async throws {
    try await withHost(over: kinds) { host, client, connection in
      await client.shutdown()
      while await !host.holdsEnd { try await nextFrame() }
      await host.replaceHeldEvents(with: .writable(connection))
      while await host.hasConnections { try await nextFrame() }
      #expect(await !host.hasUndeliveredMessages)
    }
  }

  /// SessionNode.watchInput: an input belongs to a connection, and ends with it.
  @Test(arguments: [LinkKinds.stream, .datagram])
  func `a message that is polled after the end of its connection is no input`(kinds: LinkKinds)
    async throws
  {
    try await withHost(over: kinds) { host, client, connection in
      await host.watchInput(channel: 0, limit: .seconds(3_600))
      await client.shutdown()
      while await !host.holdsEnd { try await nextFrame() }
      await host.resume(channel: 0)
      #expect(await host.pollMessage() == [1])
      #expect(await host.inputs.nextTimeout == nil)
    }
  }

  @Test func `poll returns the messages of a channel that was paused and is resumed`() async throws
  {
    try await withHost(over: .all) { host, client, connection in
      while await host.poll() != nil {}
      await host.resume(channel: 0)
      #expect(await host.pollMessage() == [1])
      await client.shutdown()
    }
  }

  /// SessionNode.setHandler: the handler first receives the events held so far.
  @Test(arguments: [LinkKinds.stream, .datagram])
  func `a handler that is set after the end of a connection gets all of it, in order`(
    kinds: LinkKinds
  ) async throws {
    try await withHost(over: kinds) { host, client, connection in
      await host.resume(channel: 0)
      await client.shutdown(Goodbye(.finished))
      while await !host.holdsEnd { try await nextFrame() }
      let events = Collector(on: host.loop)
      await events.watch(host)
      let seen = await events.events.filter { !$0.isMeasured }
      #expect(
        seen == [
          .opened(connection, client.local), .message(connection, channel: 0, bytes: [1]),
          .closed(connection, client.local, .finished, wasOpen: true),
        ])
    }
  }

  @Test(arguments: [LinkKinds.stream, .datagram])
  func `a node that is polled grants the credit for more messages`(kinds: LinkKinds) async throws {
    try await withNetworkLoop { loop in
      // Nothing but the polling itself makes the host send.
      let timing = SessionTiming.withoutPings
      let host = SessionNode(makePeer("host"), seats: 1, timing: timing, over: kinds, on: loop)
      let port = try await host.listen(on: [.loopback4])
      let client = SessionNode(makePeer("client"), seats: 0, timing: timing, over: kinds, on: loop)
      async let seated = client.connect(to: [Endpoint(.loopback4, port: port)])
      _ = try await host.admitNext()
      let connection = try await seated
      for number in UInt8(0)..<16 {
        let note = Note([UInt8](repeating: number, count: 100_000))
        try await client.send(note, on: .notes, to: connection)
      }
      for number in UInt8(0)..<16 {
        var message = await host.pollMessage()
        while message == nil {
          try await nextFrame()
          message = await host.pollMessage()
        }
        #expect(message?.first == number && message?.count == 100_000)
      }
      await client.shutdown()
      await host.shutdown()
    }
  }

  /// Runs `body` with a host that is polled and a client. The client has sent a message on channel
  /// 0, which the host has paused.
  private func withHost(
    over kinds: LinkKinds, _ body: (SessionNode, SessionNode, ConnectionID) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      let host = SessionNode(
        makePeer("host"), seats: 1, timing: .closingSoon, over: kinds, on: loop)
      await host.pause(channel: 0)
      let port = try await host.listen(on: [.loopback4])
      let client = SessionNode(makePeer("client"), seats: 0, over: kinds, on: loop)
      async let seated = client.connect(to: [Endpoint(.loopback4, port: port)])
      let request = try await host.admitNext()
      try await client.send(Note([1]), on: .notes, to: seated)
      while await !host.hasMessages(request) { try await nextFrame() }
      try await body(host, client, request)
      await host.shutdown()
    }
  }
}

extension SessionNode {
  /// Waits for a request for a seat and grants it.
  fileprivate func admitNext() async throws -> ConnectionID {
    while true {
      if case .requested(let connection, _, _) = poll() {
        admit(connection)
        return connection
      }
      try await nextFrame()
    }
  }

  /// Whether the end of a connection is held.
  fileprivate var holdsEnd: Bool { feed.held.contains { $0.endedConnection != nil } }

  /// Whether messages of removed connections are stored.
  fileprivate var hasUndeliveredMessages: Bool { !lobby.host.undelivered.isEmpty }

  fileprivate func replaceHeldEvents(with event: SessionEvent) {
    for _ in 0..<Self.heldEventLimit { emit(event) }
  }

  /// Polls until there is nothing to poll. Returns the bytes of the first message.
  fileprivate func pollMessage() -> [UInt8]? {
    while let event = poll() {
      if case .message(_, _, let bytes) = event { return bytes }
    }
    return nil
  }
}
