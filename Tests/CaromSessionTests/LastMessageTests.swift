import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Dispatch
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
      #expect(try await events.ending() == .finished)
      #expect(await events.messages == notes.map(\.text))
      await host.shutdown()
    }
  }

  @Test func `a host that leaves before its client has run is still a peer`() async throws {
    try await withNetworkLoop { loop in
      try await withNetworkLoop { busy in
        let isGone = DispatchSemaphore(value: 0)
        let (ports, opened) = AsyncStream.makeStream(of: UInt16.self)
        let client = Task(executorPreference: busy) {
          for await port in ports {
            return try await Session.join(
              [Endpoint(.loopback4, port: port)], as: makePeer("client"), loop: loop
            ) { session, host in
              var events: [PeerEvent] = []
              while let event = session.poll() {
                if case .linkChanged = event { continue }
                events.append(event)
              }
              return events == [.joined(host), .left(host, .finished)]
            }
          }
          return false
        }
        try await Session.host(
          as: makePeer("host"), on: [.loopback4], loop: loop,
          admit: { _ in
            // From before the client is admitted, its task has no thread to run on.
            Task(executorPreference: busy) { isGone.block() }
            return .accept
          }
        ) { session, port in
          opened.yield(port)
          for await event in session.events {
            if case .joined = event { break }
          }
        }
        isGone.signal()
        #expect(try await client.value)
      }
    }
  }
}

extension DispatchSemaphore {
  /// Blocks the thread, which `wait` may not do in asynchronous code.
  fileprivate func block() { wait() }
}

extension SessionNode {
  /// Queues all notes and shuts down, all in one turn of the loop.
  fileprivate func send(_ notes: [Note], andShutDownFrom connection: ConnectionID) async throws {
    for note in notes { try send(note, on: .notes, to: connection) }
    await shutdown(Goodbye(.finished))
  }
}
