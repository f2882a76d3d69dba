import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

@Suite struct PeerTests {
  @Test func `a delivery receipt confirms that the message arrived`() async throws {
    try await withPair { pair in
      try await pair.host.sendConfirmed(Note([1]), on: .notes).expectTrue()
      try await pair.host.sendConfirmed(Note([2]), on: .latest).expectTrue()
    }
  }

  @Test func `spectators have seats of their own`() async throws {
    try await withPair(spectatorSeats: 1) { pair in
      let spectator = makePeer("spectator", isSpectator: true)
      try await Session.join(pair.endpoints, as: spectator, loop: pair.loop) { _, _ in
        #expect(await pair.hosting.joined().isSpectator)
        for late in [makePeer("late"), makePeer("late", isSpectator: true)] {
          await #expect(throws: SessionError.refused(.full)) {
            try await Session.join(pair.endpoints, as: late, loop: pair.loop) { _, _ in }
          }
        }
        #expect(await pair.hosting.node.freeSeats == 0)
        #expect(await pair.hosting.node.freeSpectatorSeats == 0)
      }
      #expect(await pair.hosting.ending() == .finished)
      #expect(await pair.hosting.node.freeSpectatorSeats == 1)
    }
  }

  @Test func `an input that stops is reported once, and once more when it resumes`() async throws {
    try await withPair { pair in
      await pair.hosting.watchInput(on: .latest, limit: .milliseconds(40))
      var events = pair.hosting.events.makeAsyncIterator()
      for _ in 0..<2 {
        _ = pair.host.post(Note([1]), on: .latest)
        await Self.expect(.inputStopped(pair.client, channel: 1), from: &events)
        _ = pair.host.post(Note([2]), on: .latest)
        await Self.expect(.inputResumed(pair.client, channel: 1), from: &events)
      }
      await pair.host.close()
      // On a busy machine an input may have stopped more often, but the two events alternate.
      var stopped = false
      while let next = await events.next() {
        switch next {
        case .inputStopped, .inputResumed:
          let other = PeerEvent.inputResumed(pair.client, channel: 1)
          #expect(next == (stopped ? other : .inputStopped(pair.client, channel: 1)))
          stopped.toggle()
        case .left(_, let reason):
          #expect(stopped && reason == .left)
          return
        default: continue
        }
      }
      Issue.record("the peer never left")
    }
  }

  @Test func `a watched input stops when its peer disconnects`() async throws {
    try await withPair(over: .stream) { pair in
      await pair.hosting.watchInput(on: .latest, limit: .seconds(600))
      try await pair.host.sendConfirmed(Note([1]), on: .latest).expectTrue()
      await pair.host.close()
      var events = pair.hosting.events.makeAsyncIterator()
      let end = PeerEvent.left(pair.client, .left)
      var last: [PeerEvent] = []
      while last.last != end, let event = await events.next() { last = last.suffix(1) + [event] }
      #expect(last == [.inputStopped(pair.client, channel: 1), end])
    }
  }

  @Test func `an input's limit has a timer of its own`() async throws {
    try await withPair(over: .stream, timing: .withoutPings) { pair in
      // An acknowledgement is due 50 ms after a message, so the limit is longer.
      await pair.hosting.watchInput(on: .latest, limit: .milliseconds(100))
      var events = pair.hosting.events.makeAsyncIterator()
      let sent = pair.loop.now
      _ = pair.host.post(Note([1]), on: .latest)
      await Self.expect(.inputStopped(pair.client, channel: 1), from: &events)
      let silence = sent.duration(to: pair.loop.now)
      #expect(silence >= .milliseconds(100) && silence < .seconds(10))
    }
  }

  /// Expects `event` as the next event about an input or a departure.
  private static func expect(
    _ event: PeerEvent, from events: inout PeerEvents.AsyncIterator
  ) async {
    while let next = await events.next() {
      switch next {
      case .inputStopped, .inputResumed, .left: return #expect(next == event)
      default: continue
      }
    }
  }

  @Test func `statistics count the messages and bytes of each channel`() async throws {
    try await withPair { pair in
      for _ in 0..<10 { try await pair.host.send(Note([1, 2, 3]), on: .notes) }
      try await pair.host.sendConfirmed(Note([4]), on: .latest).expectTrue()
      #expect(await pair.hosting.messages(on: .notes).first(10).count == 10)
      let sent = try #require(await pair.host.statistics)
      #expect(sent.channels.map(\.channel) == [0, 1])
      #expect(sent.channels.map(\.messagesSent) == [10, 1])
      #expect(sent.channels.map(\.bytesSent) == [30, 1])
      #expect(sent.roundTrip != nil)
      #expect(sent.link != nil)
      let received = try #require(await pair.client.statistics)
      #expect(received.channels.map(\.messagesReceived) == [10, 1])
      #expect(received.channels.map(\.bytesReceived) == [30, 1])
    }
  }

  @Test func `the clock offset between peers of one process is small`() async throws {
    try await withPair { pair in
      var offset: Duration?
      while offset == nil { offset = await pair.host.clockOffset }
      #expect(abs(offset!.components.seconds) < 1)
    }
  }

  @Test func `join accepts an address as text`() async throws {
    try await withPair(seats: 2) { pair in
      try await Session.join(
        host: "127.0.0.1", port: pair.endpoints[0].port, as: makePeer("second"), loop: pair.loop
      ) { _, host in
        #expect(host.name == "host")
      }
    }
  }

  @Test func `join throws the error of its last attempt`() async {
    await withNetworkLoop { loop in
      let policy = RetryPolicy(
        attempts: 2, firstDelay: .milliseconds(1), longestDelay: .milliseconds(1))
      let nobody = [Endpoint(.loopback4, port: 9)]
      await #expect(throws: SessionError.transport(.connectionRefused)) {
        try await Session.join(
          nobody, as: makePeer("client"), over: .stream, retrying: policy, loop: loop
        ) { _, _ in }
      }
    }
  }
}
