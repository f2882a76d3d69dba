import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

@Suite struct SessionTests {
  @Test func `an echo host answers each message, and both sides see the other leave`() async throws
  {
    try await withNetworkLoop { loop in
      let (ports, announce) = AsyncStream.makeStream(of: UInt16.self)
      async let hosted: [String] = Session.host(
        as: makePeer("host"), on: [.loopback4], loop: loop
      ) { session, port in
        announce.yield(port)
        var log: [String] = []
        for await received in session.messages(on: .notes) {
          log.append("note \(received.message.text.count)")
          try await received.peer.send(received.message, on: .notes)
          if log.count == 3 { break }
        }
        for await event in session.events {
          if case .left(let peer, let reason) = event {
            log.append("\(peer.name) \(reason)")
            break
          }
        }
        return log
      }
      var waiting = ports.makeAsyncIterator()
      let port = try #require(await waiting.next())
      let endpoints = [Endpoint(.loopback4, port: port)]
      let echoes = try await Session.join(endpoints, as: makePeer("client"), loop: loop) {
        session, host in
        var notes = session.messages(on: .notes).makeAsyncIterator()
        var echoes: [Int] = []
        for length in 1...3 {
          try await host.send(Note([UInt8](repeating: 1, count: length)), on: .notes)
          if let received = await notes.next() { echoes.append(received.message.text.count) }
        }
        return echoes
      }
      #expect(echoes == [1, 2, 3])
      #expect(try await hosted == ["note 1", "note 2", "note 3", "client finished"])
    }
  }

  @Test func `an ended session is released together with its unread messages`() async throws {
    struct Trace {
      weak var node: SessionNode?
    }
    let traces = try await withNetworkLoop { loop in
      try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) {
        session, port -> [Trace] in
        _ = session.takeMessages(on: .notes)
        let endpoints = [Endpoint(.loopback4, port: port)]
        let client = try await Session.join(endpoints, as: makePeer("client"), loop: loop) {
          session, host in
          try await host.send(Note([1]), on: .notes)
          return Trace(node: session.node)
        }
        return [Trace(node: session.node), client]
      }
    }
    #expect(traces.allSatisfy { $0.node == nil })
  }

  @Test func `messages after the end of a session are none`() async throws {
    try await withNetworkLoop { loop in
      let session = try await Session.host(
        as: makePeer("host"), on: [.loopback4], loop: loop
      ) { session, _ in session }
      for await received in session.messages(on: .notes) {
        Issue.record("\(received.peer.name)")
      }
    }
  }

  @Test func `a client that the host declines gets the reason`() async throws {
    try await withNetworkLoop { loop in
      let (ports, announce) = AsyncStream.makeStream(of: UInt16.self)
      let hosting = Task {
        try await Session.host(
          as: makePeer("host"), on: [.loopback4], loop: loop,
          admit: { $0.name.isEmpty ? .decline("tell us your name") : .accept }
        ) { session, port in
          announce.yield(port)
          for await event in session.events { if case .left = event { break } }
        }
      }
      var waiting = ports.makeAsyncIterator()
      let endpoints = [Endpoint(.loopback4, port: try #require(await waiting.next()))]
      await #expect(throws: SessionError.refused(.declined("tell us your name"))) {
        try await Session.join(endpoints, as: makePeer(""), loop: loop) { _, _ in }
      }
      try await Session.join(endpoints, as: makePeer("somebody"), loop: loop) { _, _ in }
      try await hosting.value
    }
  }

  @Test func `a fixed step counts without gaps and ends with its task`() async {
    await withNetworkLoop { loop in
      let steps = await Task(executorPreference: loop) {
        var ticks: [UInt64] = []
        for await step in FixedStep(hertz: 500, on: loop) {
          ticks.append(step.tick.rawValue)
          if ticks.count == 20 { break }
        }
        return ticks
      }.value
      #expect(steps == Array(0..<20))
    }
  }
}
