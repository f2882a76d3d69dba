import CaromCore
import CaromProtocol
import CaromTransport
import Testing

@testable import CaromSession

extension Exchange<Note, Note> {
  fileprivate static var echoes: Self { .init(20) }
}

extension Exchange<Note, Applied> {
  fileprivate static var orders: Self { .init(21) }
}

/// A time limit that even a busy machine does not reach.
private let patience = Duration.seconds(60)

@Suite struct ExchangeTests {
  @Test func `each response is matched to its request`() async throws {
    try await withPair { pair in
      await Self.answering(in: pair.hosting) {
        await withTaskGroup { group in
          for number in 0..<50 {
            group.addTask {
              try? await pair.host.request(
                Note([UInt8(number)]), over: .echoes, within: patience
              ).text
                == [UInt8(number), 1]
            }
          }
          for await isRight in group { #expect(isRight == true) }
        }
      }
    }
  }

  @Test func `a responder can send a request from inside its closure`() async throws {
    try await withPair { pair in
      let far = Task {
        await pair.hosting.respond(to: .echoes) { peer, note in
          try await peer.request(Note(note.text + [2]), over: .echoes, within: patience)
        }
      }
      await Self.answering(in: pair.visiting) {
        let answer = try? await pair.host.request(Note([9]), over: .echoes, within: patience)
        #expect(answer == Note([9, 2, 1]))
      }
      far.cancel()
    }
  }

  @Test func `a responder that throws fails the request`() async throws {
    try await withPair { pair in
      let answering = Task {
        await pair.hosting.respond(to: .echoes) { _, _ in throw RequestError.busy }
      }
      await #expect(throws: RequestError.failed) {
        try await pair.host.request(Note([1]), over: .echoes, within: patience)
      }
      answering.cancel()
    }
  }

  @Test func `a request without a response in time throws timedOut`() async throws {
    try await withPair { pair in
      await #expect(throws: RequestError.timedOut) {
        try await pair.host.request(Note([1]), over: .echoes, within: .milliseconds(30))
      }
    }
  }

  @Test func `a cancelled request throws cancelled`() async throws {
    try await withPair { pair in
      let asking = Task { try await pair.host.request(Note([1]), over: .echoes, within: patience) }
      asking.cancel()
      await #expect(throws: RequestError.cancelled) { _ = try await asking.value }
    }
  }

  @Test func `a request to a peer that is disconnected throws the reason`() async throws {
    try await withPair { pair in
      let asking = Task { try await pair.host.request(Note([1]), over: .echoes, within: patience) }
      for await _ in pair.hosting.requestsArrived(over: .echoes) { break }
      await pair.client.kick("closing time")
      await #expect(throws: RequestError.disconnected(.kicked("closing time"))) {
        _ = try await asking.value
      }
    }
  }

  @Test func `a request does not fail because another peer is disconnected`() async throws {
    try await withPair(seats: 2) { pair in
      try await Session.join(pair.endpoints, as: makePeer("other"), loop: pair.loop) { _, _ in
        let other = await pair.hosting.joined()
        let answering = Task {
          await pair.visiting.respond(to: .echoes) { _, note in
            await other.kick()
            while await pair.hosting.peers.contains(other) { try await nextFrame() }
            return Note(note.text + [1])
          }
        }
        let answer = try await pair.client.request(Note([7]), over: .echoes, within: patience)
        #expect(answer == Note([7, 1]))
        answering.cancel()
      }
    }
  }

  @Test func `only the peer that was asked can answer a request`() async throws {
    try await withPair(seats: 2) { pair in
      try await Session.join(pair.endpoints, as: makePeer("forger"), loop: pair.loop) { _, host in
        _ = await pair.hosting.joined()
        let answering = Task {
          await pair.visiting.respond(to: .echoes) { _, note in
            for number in await pair.hosting.hubs[0].pendingNumbers {
              try await host.forgeResponses(to: number)
            }
            return Note(note.text + [1])
          }
        }
        let answer = try await pair.client.request(Note([7]), over: .echoes, within: patience)
        #expect(answer == Note([7, 1]))
        answering.cancel()
      }
    }
  }

  @Test func `an acknowledged send returns the peers that did not respond`() async throws {
    try await withPair(seats: 3) { pair in
      let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
      let (endings, end) = AsyncStream.makeStream(of: Void.self)
      try await Session.join(pair.endpoints, as: makePeer("mute"), loop: pair.loop) {
        session, _ in
        let mute = await pair.hosting.joined()
        let holding = Task {
          await session.respond(to: .orders) { _, _ in
            arrived.yield()
            for await _ in endings {}
            return Applied()
          }
        }
        let applying = Task {
          await pair.visiting.respond(to: .orders) { _, note in
            guard note == Note([2]) else { return Applied() }
            for await _ in arrivals { break }
            await mute.kick()
            return Applied()
          }
        }
        let none = await pair.hosting.send(
          Note([1]), on: .orders, acknowledgedBy: .peers([pair.client]), within: patience)
        #expect(none.isEmpty)
        let late = await pair.hosting.send(
          Note([2]), on: .orders, acknowledgedBy: .all, within: patience)
        #expect(late == [mute: .disconnected(.closedLocally)])
        end.finish()
        holding.cancel()
        applying.cancel()
      }
    }
  }

  /// Runs `body` while a session responds to each note with the same note and a 1.
  private static func answering(in session: Session, _ body: () async -> Void) async {
    let answering = Task {
      await session.respond(to: .echoes) { _, note in Note(note.text + [1]) }
    }
    await body()
    answering.cancel()
  }
}

extension SessionHub {
  /// The numbers of the requests that have no response yet.
  fileprivate var pendingNumbers: [UInt32] { Array(requests.entries.keys) }
}

extension Peer {
  /// Sends a response of each kind to a request that was sent to another peer.
  fileprivate func forgeResponses(to number: UInt32) async throws {
    for kind in [ExchangeMessage.Kind.response, .failed, .busy] {
      let forged = ExchangeMessage(kind, number)
      try await sendConfirmed(forged, on: Exchange<Note, Note>.echoes.channel).expectTrue()
    }
  }
}

extension Session {
  /// Yields once for each request that arrives. The requests get no response.
  fileprivate func requestsArrived(over exchange: Exchange<Note, Note>) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    Task {
      await respond(to: exchange) { _, note in
        continuation.yield()
        try await Task.sleep(for: patience)
        return note
      }
    }
    return stream
  }
}
