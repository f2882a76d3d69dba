import CaromCore
import CaromTransport
import Testing

@testable import CaromProtocol
@testable import CaromSession

/// Sending from code on the loop and from other threads (SessionNode.send, sendForReceipt,
/// broadcast and post).
@Suite(.timeLimit(.minutes(1))) struct NodeSendingTests {
  @Test func `the number of a message with a receipt is in its receipt`() async throws {
    try await withNodes { host, hostEvents, client, connection in
      let events = Collector(on: client.loop)
      await events.watch(client)
      var numbers: [UInt64] = []
      for channel in [MessageChannel<Note>.notes, .latest] {
        let number = try await client.sendForReceipt(Note([1]), on: channel, to: connection)
        let receipt = try await events.first { $0.isReceipt(number) }
        #expect(
          receipt
            == .receipt(connection, channel: channel.id, message: number, delivered: true))
        numbers.append(number)
      }
      #expect(Set(numbers).count == 2)
    }
  }

  /// A message with a lifetime that is still unsent then is dropped, and reported with its number.
  @Test func `a message that has expired is reported, and never arrives`() async throws {
    try await withNodes(over: .stream) { host, hostEvents, client, connection in
      await host.pause(channel: 0)
      let events = Collector(on: client.loop)
      await events.watch(client)
      let number = try await client.fillAndSendForReceipt(
        Note([9]), to: connection, lifetime: .milliseconds(30))
      let event = try await events.first {
        if case .expired(_, _, number) = $0 { true } else { false }
      }
      #expect(event == .expired(connection, channel: 0, message: number))
      await host.resume(channel: 0)
      try await client.sendConfirmed(Note([8]), on: .notes, to: connection).expectTrue()
      #expect(await !hostEvents.messages.contains([9]))
    }
  }

  @Test func `a broadcast reports the connections it could not send to, and reaches the others`()
    async throws
  {
    try await withNodes { host, hostEvents, client, connection in
      let events = Collector(on: client.loop)
      await events.watch(client)
      let known = try #require(await host.peers.first).connection
      let unknown = ConnectionID(999_999)
      let failures = await host.broadcast(Note([1]), on: .notes, to: [unknown, known])
      #expect(failures == [unknown: .notConnected])
      #expect(await host.broadcast(Note([2]), on: .notes, to: []).isEmpty)
      #expect(await host.broadcast(Note([3]), on: .notes).isEmpty)
      let large = Note([UInt8](repeating: 1, count: (64 << 10) + 1))
      #expect(
        await host.broadcast(large, on: .latest) == [
          known: .tooLarge(size: (64 << 10) + 1, limit: 64 << 10)
        ])
      _ = try await events.first { $0.isMessage([3]) }
      #expect(await events.messages == [[1], [3]])
    }
  }

  @Test func `messages to all peers, and events to none, pass over those without a seat`()
    async throws
  {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 2, on: loop)
      let events = Collector(on: loop)
      await events.watch(host)
      let port = try await host.listen(on: [.loopback4])
      let client = SessionNode(makePeer("client"), seats: 0, on: loop)
      async let seated = client.connect(to: [Endpoint(.loopback4, port: port)])
      guard case .requested(let request, _, _) = try await events.first(\.isRequest) else { return }
      #expect(await host.broadcast(Note([1]), on: .notes).isEmpty)
      #expect(
        await host.broadcast(Note([1]), on: .notes, to: [request]) == [request: .notConnected])
      #expect(host.postToAll(Note([1]), on: .notes, lifetime: nil))
      #expect(host.post(Note([1]), on: .notes, to: request))
      await loop.run {}
      #expect(await host.postsRefused == 1)
      await host.admit(request)
      _ = try await seated
      await client.shutdown()
      await host.shutdown()
    }
  }

  @Test func `posts are refused while 4,096 of them wait for the loop, and accepted afterwards`()
    async throws
  {
    try await withNodes { host, hostEvents, client, connection in
      #expect(await client.postInOneTurn(4_097, to: connection) == 4_096)
      _ = try await hostEvents.first { $0.isMessage([15, 255]) }
      #expect(await client.postInOneTurn(1, to: connection) == 1)
      try await client.sendConfirmed(Note([1]), on: .notes, to: connection).expectTrue()
      #expect(await hostEvents.messages.count == 4_098)
      #expect(await client.postsRefused == 0)
    }
  }

  @Test(arguments: Delivery.allCases)
  func `a post that is longer than its delivery allows is refused`(delivery: Delivery)
    async throws
  {
    try await withNodes { host, hostEvents, client, connection in
      let isLong = delivery == .reliableOrdered || delivery == .reliableUnordered
      let limit = isLong ? 1 << 20 : 64 << 10
      let channel = MessageChannel<Note>(5, delivery)
      #expect(client.post(Note(.init(repeating: 1, count: limit)), on: channel, to: connection))
      #expect(
        !client.post(Note(.init(repeating: 1, count: limit + 1)), on: channel, to: connection))
      await client.loop.run {}
      #expect(await client.postsRefused == 0)
    }
  }

  @Test func `posts to a connection that has ended are counted as refused`() async throws {
    try await withNodes { host, hostEvents, client, connection in
      await client.close(connection, Goodbye(.left))
      for _ in 0..<3 { #expect(client.post(Note([1]), on: .notes, to: connection)) }
      await client.loop.run {}
      #expect(await client.postsRefused == 3)
    }
  }

  @Test func `a node counts the bytes of both kinds of links`() async throws {
    for kinds in [LinkKinds.datagram, .stream] {
      try await withNodes(over: kinds) { host, hostEvents, client, connection in
        let note = Note([UInt8](repeating: 1, count: 10_000))
        try await client.sendConfirmed(note, on: .notes, to: connection).expectTrue()
        let (sent, received) = (await client.bytesSent, await host.bytesReceived)
        #expect(sent > 10_000 && sent < 100_000, "\(kinds)")
        #expect(received > 10_000 && received <= sent, "\(kinds)")
        #expect(await host.bytesSent > 0)
        #expect(await client.bytesReceived <= host.bytesSent)
        #expect(await host.loopStatistics.bytesReceived >= received)
        #expect(await host.loopStatistics.peers == 1)
      }
    }
  }

  @Test func `a paused channel is not delivered, others are, and resuming continues in order`()
    async throws
  {
    try await withNodes { host, hostEvents, client, connection in
      await host.pause(channel: 0)
      for number in UInt8(1)...3 {
        try await client.send(Note([number]), on: .notes, to: connection)
      }
      try await client.sendConfirmed(Note([9]), on: .others, to: connection).expectTrue()
      try await client.sendConfirmed(Note([8]), on: .latest, to: connection).expectTrue()
      _ = try await hostEvents.first { $0.isMessage([8]) }
      #expect(await hostEvents.messages == [[9], [8]])
      await host.resume(channel: 2)
      #expect(await hostEvents.messages == [[9], [8]])
      await host.resume(channel: 0)
      _ = try await hostEvents.first { $0.isMessage([3]) }
      #expect(await hostEvents.messages == [[9], [8], [1], [2], [3]])
    }
  }

  @Test func `a handler that pauses and resumes a channel gets its messages once and in order`()
    async throws
  {
    try await withNodes { host, _, client, connection in
      let reader = PausingReader(host)
      await host.setMessageHandler(owner: reader) { $0.take($1) }
      try await client.sendInOneTurn(100, to: connection)
      for channel in [MessageChannel.notes, .others] {
        try await client.sendConfirmed(Note([100]), on: channel, to: connection).expectTrue()
      }
      await host.resume(channel: 0)
      for channel in [0, 2] {
        #expect(await reader.numbers[channel] == Array(0...100))
      }
    }
  }

  @Test func `a handler for messages resumes watched inputs too`() async throws {
    for hasMessageHandler in [false, true] {
      try await withNodes { host, hostEvents, client, connection in
        let back = try #require(await host.peers.first).connection
        if hasMessageHandler { await host.setMessageHandler(owner: hostEvents) { _, _ in } }
        await host.watchInput(channel: 1, limit: .milliseconds(20))
        try await client.sendConfirmed(Note([1]), on: .latest, to: connection).expectTrue()
        _ = try await hostEvents.first { $0 == .inputStopped(back, channel: 1) }
        try await client.sendConfirmed(Note([2]), on: .latest, to: connection).expectTrue()
        _ = try await hostEvents.first { $0 == .inputResumed(back, channel: 1) }
        await host.watchInput(channel: 1, limit: nil)
      }
    }
  }

  /// Runs `body` with a host, its events and a client that has joined it and has no handler.
  private func withNodes(
    over kinds: LinkKinds = .all,
    _ body: (SessionNode, Collector, SessionNode, ConnectionID) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      let timing = SessionTiming.closingSoon
      let host = SessionNode(makePeer("host"), seats: 1, timing: timing, over: kinds, on: loop)
      let events = Collector(on: loop)
      await events.watch(host, admitsAll: true)
      let port = try await host.listen(on: [.loopback4])
      let client = SessionNode(makePeer("client"), seats: 0, timing: timing, over: kinds, on: loop)
      let connection = try await client.connect(to: [Endpoint(.loopback4, port: port)])
      try await body(host, events, client, connection)
      await client.shutdown()
      await host.shutdown()
    }
  }
}

/// Pauses channel 0 after one of its messages, and resumes it after one of channel 2.
private actor PausingReader: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private(set) var numbers: [[UInt8]] = [[], [], []]

  init(_ node: SessionNode) {
    loop = node.loop
    self.node = node
  }

  func take(_ message: borrowing SessionMessage) {
    let (channel, number) = (message.channel, message.bytes[0])
    numbers[Int(channel)].append(number)
    node.assumeIsolated { node in
      if channel == 0, number % 5 == 1 { node.pause(channel: 0) }
      if channel == 2, number % 5 == 3 { node.resume(channel: 0) }
    }
  }
}

extension MessageChannel<Note> {
  fileprivate static var others: Self { .init(2, .reliableOrdered) }
}

extension SessionEvent {
  fileprivate func isReceipt(_ number: UInt64) -> Bool {
    if case .receipt(_, _, number, _) = self { true } else { false }
  }

  fileprivate func isMessage(_ bytes: [UInt8]) -> Bool {
    if case .message(_, _, bytes) = self { true } else { false }
  }
}

extension SessionNode {
  /// Sends more than the peer's first credit allows, and then a message with a lifetime. Returns
  /// the number of that message.
  fileprivate func fillAndSendForReceipt(
    _ note: Note, to connection: ConnectionID, lifetime: Duration
  ) throws -> UInt64 {
    for _ in 0..<3 {
      try send(Note([UInt8](repeating: 1, count: 900_000)), on: .notes, to: connection)
    }
    return try sendForReceipt(note, on: .notes, to: connection, lifetime: lifetime)
  }

  /// Sends `count` messages on each of two channels.
  fileprivate func sendInOneTurn(_ count: UInt8, to connection: ConnectionID) throws {
    for number in 0..<count {
      let note = Note([UInt8](repeating: number, count: 200))
      try send(note, on: .notes, to: connection)
      try send(note, on: .others, to: connection)
    }
  }

  /// Posts the notes [0, 0], [0, 1] and so on while the loop cannot send them. Returns the number
  /// of notes that were accepted.
  fileprivate func postInOneTurn(_ count: Int, to connection: ConnectionID) -> Int {
    (0..<count).count { post(Note([UInt8($0 >> 8), UInt8($0 & 255)]), on: .notes, to: connection) }
  }
}
