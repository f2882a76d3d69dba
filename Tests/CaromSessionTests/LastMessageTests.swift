import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

@Suite(.timeLimit(.minutes(1))) struct LastMessageTests {
  /// Page WireFormat, The life of a connection, step 5.
  @Test(arguments: [LinkKinds.datagram, .stream])
  func `shutdown returns after the goodbye and all messages before it have been sent`(
    kinds: LinkKinds
  ) async throws {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 1, over: kinds, on: loop)
      let events = Collector(on: loop)
      await events.watch(host, admitsAll: true)
      let port = try await host.listen(on: [.loopback4])
      var timing = SessionTiming()
      timing.closeLimit = .seconds(30)
      let client = SessionNode(makePeer("client"), seats: 0, timing: timing, over: kinds, on: loop)
      let connection = try await client.connect(to: [Endpoint(.loopback4, port: port)])
      // More than fits in the first flight of datagrams or in the channel's first credit.
      let notes = (0..<100).map { Note([UInt8](repeating: $0, count: 4_000)) }
      try await client.send(notes, andShutDownFrom: connection)
      #expect(await events.ending() == .finished)
      #expect(await events.messages == notes.map(\.text))
      await host.shutdown()
    }
  }
}

extension SessionNode {
  /// Queues all notes and shuts down, all in one turn of the loop.
  fileprivate func send(_ notes: [Note], andShutDownFrom connection: ConnectionID) async throws {
    for note in notes { try send(note, on: .notes, to: connection) }
    await shutdown(Goodbye(.finished))
  }
}
