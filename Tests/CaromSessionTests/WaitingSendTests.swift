import CaromCore
import CaromProtocol
import CaromTransport
import Testing

@testable import CaromSession

/// Sends that wait for room in the send queue, and senders that wait for a delivery receipt (page
/// Sessions, Send).
@Suite(.timeLimit(.minutes(1))) struct WaitingSendTests {
  @Test func `a message that would fit does not overtake an earlier one that waits for room`()
    async throws
  {
    try await withPair { pair in
      let count = try await pair.fillNotes()
      let sends = await pair.host.startSending([.large, Note([3])])
      let read = await pair.hosting.messages(on: .notes).first(count + 2)
      #expect(read.suffix(2) == [.large, Note([3])])
      for sending in sends { try await sending.value }
    }
  }

  @Test func `a post that would fit does not overtake an earlier one that waits for room`()
    async throws
  {
    try await withPair { pair in
      let count = try await pair.fillNotes()
      for note in [.large, Note([3])] {
        #expect(pair.host.post(note, on: .notes))
        await pair.loop.run {}  // the loop has handled the post
      }
      let read = await pair.hosting.messages(on: .notes).first(count + 2)
      #expect(read.suffix(2) == [.large, Note([3])])
    }
  }

  @Test func `1,024 messages wait for room on a connection, and one more throws queueFull`()
    async throws
  {
    try await withPair { pair in
      try await pair.fillNotes()
      let small = [Note](repeating: Note([3]), count: 1_023)
      let sends = await pair.host.startSending([.large] + small)
      for sending in await pair.host.startSending([Note([4])]) {
        sending.cancel()
        let error = await #expect(throws: SendError.self) { try await sending.value }
        guard case .queueFull? = error else {
          Issue.record("\(error as Any)")
          continue
        }
      }
      await pair.client.kick()
      for sending in sends {
        await #expect(throws: SendError.notConnected) { try await sending.value }
      }
    }
  }

  @Test(arguments: [true, false])
  func `sendConfirmed returns false when the connection ends before the message is sent`(
    isKicked: Bool
  ) async throws {
    try await withPair(timing: .closingSoon) { pair in
      try await pair.fillNotes()
      let receipt = await pair.host.startSendingConfirmed(Note([3]), on: .notes)
      if isKicked { await pair.client.kick() } else { await pair.host.close() }
      #expect(try await receipt.value == false)
    }
  }

  /// The receipt of the replaced message arrives in the turn of the loop in which the message was
  /// queued, and thus before the sender's task resumes.
  @Test func `sendConfirmed returns false if a newer message replaces one that waited for room`()
    async throws
  {
    try await withPair(over: .stream) { pair in
      let count = try await pair.fillNotes()
      let sends = await pair.host.startSending([.large])
      let older = await pair.host.startSendingConfirmed(Note([1]), on: .latest)
      let newer = await pair.host.startSendingConfirmed(Note([2]), on: .latest)
      #expect(await pair.hosting.messages(on: .notes).first(count + 1).last == .large)
      #expect(try await older.value == false)
      #expect(try await newer.value)
      for sending in sends { try await sending.value }
    }
  }

  @Test func `cancelling one waiting message leaves those before and after it`() async throws {
    try await withPair { pair in
      let count = try await pair.fillNotes()
      let sends = await pair.host.startSending([.large, Note([3]), Note([4])])
      sends[1].cancel()
      await #expect(throws: SendError.cancelled) { try await sends[1].value }
      let read = await pair.hosting.messages(on: .notes).first(count + 2)
      #expect(read.suffix(2) == [.large, Note([4])])
      for sending in [sends[0], sends[2]] { try await sending.value }
    }
  }

  @Test(arguments: [nil, Duration.milliseconds(30)])
  func `messages behind one that no longer waits are sent at once if there is room`(
    lifetime: Duration?
  ) async throws {
    try await withPair(timing: .closingSoon) { pair in
      try await pair.fillNotes()
      let first = await pair.host.startSending([.large], lifetime: lifetime)[0]
      let second = await pair.host.startSending([Note([3])])[0]
      if lifetime == nil { first.cancel() }
      let error: SendError = lifetime == nil ? .cancelled : .expired
      await #expect(throws: error) { try await first.value }
      #expect(await pair.host.node.waiters.sends.isEmpty)
      second.cancel()
    }
  }

  @Test func `a peer accepts posts again when those that waited for room have expired`()
    async throws
  {
    try await withPair(timing: .closingSoon) { pair in
      try await pair.fillNotes()
      let (host, loop) = (pair.host, pair.loop)
      let deadline = loop.now + .milliseconds(300)
      let long = Note([UInt8](repeating: 1, count: 1 << 20))
      for _ in 0..<4 {
        host.post(long, on: .notes, lifetime: .milliseconds(300)).expectTrue()
      }
      let isAccepted = await loop.run { host.post(Note([3]), on: .notes) }
      #expect(!isAccepted || loop.now >= deadline)
      // Its lifetime ends after those of the others.
      let last = await host.startSending([.large], lifetime: .milliseconds(300))[0]
      await #expect(throws: SendError.expired) { try await last.value }
      host.post(Note([3]), on: .notes).expectTrue()
    }
  }

  /// SessionNode.sendWhenRoom: throws `expired` if the lifetime passes, not at some later timeout.
  @Test func `the end of a waiting message's lifetime has a timer`() async throws {
    try await withPair(over: .stream, timing: .withoutPings) { pair in
      try await pair.fillNotes()
      let deadlines = await pair.host.node.startSendingLate(to: pair.host.connectionID)
      let now = pair.loop.now
      #expect(deadlines.before > now + .seconds(2))
      #expect(deadlines.after <= now + .seconds(1))
    }
  }
}

extension Note {
  /// A message for which a queue that is full of notes has no room, even after one of them has been
  /// delivered.
  fileprivate static var large: Note { Note([UInt8](repeating: 2, count: 900_000)) }
}

extension Peer {
  fileprivate func startSending(
    _ notes: [Note], lifetime: Duration? = nil
  ) async -> [Task<Void, any Error>] {
    await node.startSending(notes, to: connectionID, lifetime)
  }

  fileprivate func startSendingConfirmed(
    _ note: Note, on channel: MessageChannel<Note>
  ) async -> Task<Bool, any Error> {
    await node.startSendingConfirmed(note, on: channel, to: connectionID)
  }
}

extension SessionNode {
  /// Calls `sendWhenRoom` for each note, in order. Returns when each call has returned or waits.
  fileprivate func startSending(
    _ notes: [Note], to connection: ConnectionID, _ lifetime: Duration?
  ) -> [Task<Void, any Error>] {
    notes.map { note in
      Task.immediate {
        try await self.sendWhenRoom(note, on: .notes, to: connection, lifetime: lifetime)
      }
    }
  }

  /// Calls `sendConfirmed`. Returns when the call has returned or waits.
  fileprivate func startSendingConfirmed(
    _ note: Note, on channel: MessageChannel<Note>, to connection: ConnectionID
  ) -> Task<Bool, any Error> {
    Task.immediate { try await self.sendConfirmed(note, on: channel, to: connection) }
  }

  /// Lets a message with a lifetime of a second wait for room. Returns the deadlines of the node's
  /// timer before and after that.
  fileprivate func startSendingLate(to connection: ConnectionID) -> (
    before: Instant, after: Instant
  ) {
    let before = turn.timer?.deadline ?? .distantFuture
    let sending = Task.immediate {
      try await self.sendWhenRoom(.large, on: .notes, to: connection, lifetime: .seconds(1))
    }
    let after = turn.timer?.deadline ?? .distantFuture
    sending.cancel()
    return (before, after)
  }
}
