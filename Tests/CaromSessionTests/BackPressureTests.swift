import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// A slow reader slows down its sender, and is never disconnected for being slow.
@Suite struct BackPressureTests {
  private static let large = 200_000

  @Test(arguments: [LinkKinds.stream, .datagram])
  func `an idle reader stops the sender, and no message is lost`(kinds: LinkKinds)
    async throws
  {
    try await withPair(over: kinds) { pair in
      let notes = pair.hosting.messages(on: .notes)
      var sent = 0
      while true {
        do throws(SendError) {
          try await pair.host.trySend(Self.makeNote(sent), on: .notes)
          sent += 1
        } catch {
          guard case .queueFull(let queued) = error else { throw error }
          #expect(queued <= 4 << 20)
          break
        }
      }
      // The client's send queue, the host's receive window and inbox, and one more message.
      #expect(sent * Self.large <= (4 << 20) + (4 << 20) + (256 << 10) + Self.large)
      let read = await notes.first(sent)
      #expect(read.map(\.text[0]) == (0..<sent).map { UInt8($0) })
      #expect(await pair.hosting.peers.count == 1)
    }
  }

  private static func makeNote(_ number: Int) -> Note {
    Note([UInt8(number)] + [UInt8](repeating: 7, count: large - 1))
  }

  @Test func `send waits for room, and messages arrive in order without loss`() async throws {
    try await withPair { pair in
      let count = 40
      let sending = Task {
        for number in 0..<count { try await pair.host.send(Self.makeNote(number), on: .notes) }
      }
      let read = await pair.hosting.messages(on: .notes).first(count)
      #expect(read.map(\.text[0]) == (0..<count).map { UInt8($0) })
      try await sending.value
    }
  }

  @Test func `an unread channel does not block other channels`() async throws {
    try await withPair(timing: .closingSoon) { pair in
      try await pair.fillNotes()
      try await pair.host.send(Note([1]), on: .others)
      #expect(await pair.hosting.messages(on: .others).first(1) == [Note([1])])
      while pair.hosting.takeMessages(on: .latest).isEmpty {
        _ = pair.host.post(Note([2]), on: .latest)
        try await nextFrame()
      }
    }
  }

  @Test func `a send that waits for room can be cancelled`() async throws {
    try await withPair(timing: .closingSoon) { pair in
      try await pair.fillNotes()
      let sending = Task {
        try await pair.host.send(Note(.init(repeating: 1, count: 900_000)), on: .notes)
      }
      sending.cancel()
      await #expect(throws: SendError.cancelled) { try await sending.value }
    }
  }

  @Test func `a message whose lifetime passes before there is room throws expired`() async throws {
    try await withPair(timing: .closingSoon) { pair in
      try await pair.fillNotes()
      let large = Note(.init(repeating: 1, count: 900_000))
      await #expect(throws: SendError.expired) {
        try await pair.host.send(large, on: .notes, lifetime: .milliseconds(30))
      }
    }
  }

  @Test func `a send that waits for room fails when the peer is disconnected`() async throws {
    try await withPair(timing: .closingSoon) { pair in
      try await pair.fillNotes()
      let sending = Task {
        try await pair.host.send(Note(.init(repeating: 1, count: 900_000)), on: .notes)
      }
      await pair.client.kick("too slow")
      await #expect(throws: SendError.notConnected) { try await sending.value }
      #expect(await pair.visiting.ending() == .kicked("too slow"))
      await #expect(throws: SendError.notConnected) {
        try await pair.host.send(Note([1]), on: .notes)
      }
    }
  }

  @Test func `messages sent before the end of a connection can be read after it`() async throws {
    try await withNetworkLoop { loop in
      try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) {
        hosting, port in
        try await Session.join(
          [Endpoint(.loopback4, port: port)], as: makePeer("client"), loop: loop
        ) { _, host in
          for number in 0..<50 { try await host.send(Note([UInt8(number)]), on: .notes) }
        }
        #expect(await hosting.ending() == .finished)
        let read = await hosting.messages(on: .notes).first(50)
        #expect(read == (0..<50).map { Note([UInt8($0)]) })
      }
    }
  }
}

extension MessageChannel<Note> {
  fileprivate static var others: Self { .init(2, .reliableOrdered, priority: 1) }
}
