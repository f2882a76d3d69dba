import CaromCore
import CaromTransport
import Testing

@testable import CaromProtocol
@testable import CaromSession

extension Exchange<Note, Note> {
  fileprivate static var echoes: Self { .init(20) }
}

/// A time limit that even a busy machine does not reach.
private let patience = Duration.seconds(600)

/// The limits and errors of requests (page Sessions, Request and response).
@Suite(.timeLimit(.minutes(1))) struct RequestTests {
  @Test func `the 129th pending request to a peer throws busy, until one of them has ended`()
    async throws
  {
    try await withPair { pair in
      let requests = await pair.visiting.hubs[0].startRequests(128, to: pair.host)
      await #expect(throws: RequestError.busy) {
        try await pair.host.request(Note([]), over: .echoes, within: patience)
      }
      requests[0].cancel()
      await #expect(throws: RequestError.cancelled) { _ = try await requests[0].value }
      let another = await pair.visiting.hubs[0].startRequests(1, to: pair.host)
      await #expect(throws: RequestError.busy) {
        try await pair.host.request(Note([]), over: .echoes, within: patience)
      }
      await pair.client.kick("done")
      for request in requests.dropFirst() + another {
        await #expect(throws: RequestError.disconnected(.kicked("done"))) {
          _ = try await request.value
        }
      }
      #expect(await pair.visiting.hubs[0].requests.entries.isEmpty)
    }
  }

  @Test func `requests that cannot be sent do not count as pending`() async throws {
    try await withPair { pair in
      await pair.client.kick()
      _ = await pair.visiting.ending()
      for _ in 0..<129 {
        await #expect(throws: RequestError.notSent(.notConnected)) {
          try await pair.host.request(Note([]), over: .echoes, within: patience)
        }
      }
      #expect(await pair.visiting.hubs[0].requests.entries.isEmpty)
    }
  }

  @Test func `a request that is too long is not sent`() async throws {
    try await withPair { pair in
      let note = Note([UInt8](repeating: 1, count: 1 << 20))
      await #expect(
        throws: RequestError.notSent(.tooLarge(size: (1 << 20) + 5, limit: 1 << 20))
      ) {
        try await pair.host.request(note, over: .echoes, within: patience)
      }
      #expect(await pair.visiting.hubs[0].requests.entries.isEmpty)
    }
  }

  @Test func `a request whose limit passes while it waits for room throws timedOut`() async throws {
    try await withPair(timing: .closingSoon) { pair in
      try await pair.fillNotes()
      await #expect(throws: RequestError.timedOut) {
        let note = Note([UInt8](repeating: 1, count: 900_000))
        _ = try await pair.host.request(note, over: .echoes, within: .milliseconds(30))
      }
      #expect(await pair.visiting.hubs[0].requests.entries.isEmpty)
    }
  }

  @Test func `a request is answered after those that timed out before it`() async throws {
    try await withPair { pair in
      await #expect(throws: RequestError.timedOut) {
        try await pair.host.request(Note([1]), over: .echoes, within: .milliseconds(30))
      }
      // The first response arrives too late, and is no response to the second request.
      let answering = Task {
        await pair.hosting.respond(to: .echoes) { _, note in Note(note.text + [9]) }
      }
      let answer = try await pair.host.request(Note([2]), over: .echoes, within: patience)
      #expect(answer == Note([2, 9]))
      answering.cancel()
    }
  }

  @Test func `requests are answered one at a time, in the order in which they arrived`()
    async throws
  {
    try await withPair { pair in
      let requests = await pair.visiting.hubs[0].startRequests(20, to: pair.host)
      let answering = Task {
        var seen: [UInt8] = []
        await pair.hosting.respond(to: .echoes) { peer, note in
          #expect(peer == pair.client)
          seen += note.text
          await Task.yield()
          #expect(seen.last == note.text[0])
          return note
        }
        return seen
      }
      for (number, request) in requests.enumerated() {
        let response = try await request.value
        #expect(response == Note([UInt8(number)]))
      }
      answering.cancel()
      #expect(await answering.value == (0..<20).map { UInt8($0) })
    }
  }

  @Test func `a response of another type throws malformedResponse and keeps the connection`()
    async throws
  {
    try await withPair { pair in
      let answering = Task { await pair.hosting.respond(to: .echoes) { _, note in note } }
      let counts = Exchange<Note, Applied>(20)
      await #expect(throws: RequestError.malformedResponse) {
        try await pair.host.request(Note([1]), over: counts, within: patience)
      }
      let empty = try await pair.host.request(Note([]), over: counts, within: patience)
      #expect(empty == Applied())
      answering.cancel()
    }
  }

  @Test(arguments: [ExchangeMessage(.request, 1, [1]).encoded, [9, 0, 0, 0, 0], []])
  func `a request of another type, or no request at all, ends the connection`(bytes: [UInt8])
    async throws
  {
    try await withPair { pair in
      let orders = Task {
        await pair.hosting.respond(to: Exchange<Applied, Applied>(20)) { _, order in order }
      }
      try await pair.host.send(Note(bytes), on: .init(20, .reliableOrdered))
      #expect(await pair.hosting.ending() == .protocolViolation)
      orders.cancel()
    }
  }

  @Test func `a request beyond 256 that wait for an answer is refused as busy`() async throws {
    try await withPair { pair in
      _ = pair.hosting.inboxes.queue(for: .echoes)
      let channel = Exchange<Note, Note>.echoes.channel
      for number in 1...257 {
        try await pair.host.send(ExchangeMessage(.request, UInt32(number)), on: channel)
      }
      for await received in pair.visiting.messages(on: channel) {
        #expect(received.message.kind == .busy && received.message.number == 257)
        break
      }
    }
  }

  @Test func `responses to unknown requests change nothing`() async throws {
    try await withPair { pair in
      let hub = pair.visiting.hubs[0]
      let requests = await hub.startRequests(1, to: pair.host)
      let channel = Exchange<Note, Note>.echoes.channel
      for kind in [ExchangeMessage.Kind.response, .failed, .busy] {
        try await pair.client.sendConfirmed(ExchangeMessage(kind, 77), on: channel).expectTrue()
      }
      let answering = Task { await pair.hosting.respond(to: .echoes) { _, note in note } }
      #expect(try await requests[0].value == Note([0]))
      answering.cancel()
    }
  }

  @Test func `an acknowledged send to nobody returns at once, and one to all asks every peer`()
    async throws
  {
    try await withPair(seats: 2) { pair in
      let orders = Exchange<Note, Applied>(21)
      #expect(
        await pair.hosting.send(Note([]), on: orders, acknowledgedBy: .peers([]), within: patience)
          .isEmpty)
      try await Session.join(pair.endpoints, as: makePeer("mute"), loop: pair.loop) { _, _ in
        let mute = await pair.hosting.joined()
        let late = await pair.hosting.send(
          Note([]), on: orders, within: .milliseconds(30))
        #expect(late == [pair.client: .timedOut, mute: .timedOut])
      }
    }
  }
}

extension SessionHub {
  /// Starts requests with the notes [0], [1] and so on. Returns when each of them is pending.
  fileprivate func startRequests(
    _ count: Int, to peer: Peer
  ) -> [Task<Note, any Error>] {
    (0..<count).map { number in
      Task.immediate {
        try await self.request(
          Note([UInt8(number)]), over: .echoes, of: peer.connectionID, within: patience)
      }
    }
  }
}
