import CaromCore
import CaromTransport
import Testing

@testable import CaromProtocol
@testable import CaromSession

/// Messages to many peers, of which some read slowly: nothing that was accepted is lost (page
/// Sessions, Send).
@Suite(.timeLimit(.minutes(1))) struct BroadcastTests {
  /// Line number `number`. With 1 KiB a line, 20,000 lines are more than all queues hold.
  private static func makeLine(_ number: Int) -> Note {
    Note([UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 7, count: 1_022))
  }

  private static func number(of line: Note) -> Int { Int(line.text[0]) << 8 | Int(line.text[1]) }

  @Test(arguments: [LinkKinds.datagram, .stream])
  func `20,000 lines reach a reader that begins late, with none missing`(kinds: LinkKinds)
    async throws
  {
    let count = 20_000
    try await withPair(over: kinds) { pair in
      let sent = Locked(0)
      let sending = Task {
        for number in 0..<count {
          try await pair.hosting.broadcast(Self.makeLine(number), on: .notes)
          sent.withLock { $0 = number }
        }
      }
      // The host gets on until the queues are full, and then waits.
      while await pair.hosting.hubs[0].waitingSends(to: pair.client) == 0 { try await nextFrame() }
      let before = sent.withLock { $0 }
      #expect(before < count - 1)
      var next = 0
      for await line in pair.visiting.messages(on: .notes) {
        #expect(Self.number(of: line.message) == next)
        next += 1
        if next == count { break }
      }
      #expect(next == count)
      try await sending.value
    }
  }

  @Test func `a peer whose queue is full holds up no other peer`() async throws {
    try await withPair(seats: 2) { pair in
      try await Session.join(pair.endpoints, as: makePeer("quick"), loop: pair.loop) { quick, _ in
        _ = await pair.hosting.joined()
        try await pair.fillClientNotes()
        let sending = Task { try await pair.hosting.broadcast(.large, on: .notes) }
        #expect(await quick.messages(on: .notes).first(1) == [.large])
        let answer = await pair.hosting.tryBroadcast(.large, on: .notes)
        #expect(Array(answer.keys) == [pair.client])
        guard case .queueFull? = answer[pair.client] else {
          Issue.record("\(answer)")
          return
        }
        #expect(await quick.messages(on: .notes).first(1) == [.large])
        await pair.client.kick()
        #expect(try await sending.value == [pair.client: .notConnected])
      }
    }
  }

  @Test func `a broadcast does not overtake an earlier message that waits for room`() async throws {
    try await withPair { pair in
      let count = try await pair.fillClientNotes()
      let first = Task { try await pair.hosting.broadcast(.large, on: .notes) }
      let hub = pair.hosting.hubs[0]
      while await hub.waitingSends(to: pair.client) < 1 { try await nextFrame() }
      // A message of one byte would fit at once.
      let second = Task { try await pair.hosting.broadcast(Note([3]), on: .notes) }
      while await hub.waitingSends(to: pair.client) < 2 { try await nextFrame() }
      let read = await pair.visiting.messages(on: .notes).first(count + 2)
      #expect(read.suffix(2) == [.large, Note([3])])
      let failures = [try await first.value, try await second.value]
      #expect(failures == [[:], [:]])
    }
  }

  @Test func `a broadcast throws what the sender has to know, and returns who has left`()
    async throws
  {
    try await withPair { pair in
      let long = Note([UInt8](repeating: 1, count: (1 << 20) + 1))
      await #expect(throws: SendError.tooLarge(size: (1 << 20) + 1, limit: 1 << 20)) {
        try await pair.hosting.broadcast(long, on: .notes)
      }
      try await pair.fillClientNotes()
      let expired = try await pair.hosting.broadcast(
        .large, on: .notes, lifetime: .milliseconds(20))
      #expect(expired == [pair.client: .expired])
      let cancelled = Task { try await pair.hosting.broadcast(.large, on: .notes) }
      while await pair.hosting.hubs[0].waitingSends(to: pair.client) == 0 { try await nextFrame() }
      cancelled.cancel()
      await #expect(throws: SendError.cancelled) { try await cancelled.value }
      await pair.client.kick()
      let gone = try await pair.hosting.broadcast(Note([1]), on: .notes, to: [pair.client])
      #expect(gone == [pair.client: .notConnected])
    }
  }

  @Test func `a text that is too long to be decoded is not sent`() async throws {
    try await withPair { pair in
      let texts = MessageChannel<String>(9, .reliableOrdered)
      let longest = String(repeating: "z", count: String.maximumEncodedLength)
      await #expect(throws: SendError.tooLarge(size: longest.count + 1, limit: longest.count)) {
        try await pair.hosting.broadcast(longest + "z", on: texts)
      }
      let failures = try await pair.hosting.broadcast(longest, on: texts)
      #expect(failures == [:])
      #expect(await pair.visiting.messages(on: texts).first(1) == [longest])
    }
  }

  // MARK: Posts

  @Test func `a reliable post that was accepted waits for room and arrives in order`() async throws
  {
    try await withPair { pair in
      let count = try await pair.fillClientNotes()
      for number in 0..<300 {
        #expect(pair.client.post(Self.makeLine(number), on: .notes))
        #expect(pair.hosting.post(Self.makeLine(300 + number), on: .notes))
      }
      await pair.loop.run {}
      #expect(await pair.hosting.node.postsRefused == 0)
      let read = await pair.visiting.messages(on: .notes).first(count + 600).dropFirst(count)
      var order: [Int] = []
      for number in 0..<300 { order += [number, 300 + number] }
      #expect(read.map(Self.number(of:)) == order)
    }
  }

  @Test func `posts to a full queue are refused at a limit, and accepted again when it was read`()
    async throws
  {
    try await withPair(seats: 2) { pair in
      try await Session.join(pair.endpoints, as: makePeer("quick"), loop: pair.loop) { quick, _ in
        let other = await pair.hosting.joined()
        let count = try await pair.fillClientNotes()
        var posted = 0
        while pair.client.post(Self.makeLine(posted), on: .notes) {
          posted += 1
          if posted % 64 == 0 { await pair.loop.run {} }
        }
        // The first posts fill the room that is too small for another note of 250,000 bytes, and
        // that of a note which the system has accepted meanwhile.
        #expect((4_096...4_096 + 800).contains(posted))
        // Other peers and other deliveries are not affected.
        #expect(pair.client.post(Note([1]), on: .latest))
        #expect(other.post(Note([1]), on: .notes))
        #expect(!pair.hosting.post(Note([2]), on: .notes))
        #expect(await quick.messages(on: .notes).first(2) == [Note([1]), Note([2])])
        let read = await pair.visiting.messages(on: .notes).first(count + posted)
        let isComplete = read.dropFirst(count).map(Self.number(of:)) == Array(0..<posted)
        #expect(isComplete)
        #expect(pair.hosting.post(Note([3]), on: .notes))
        #expect(await pair.visiting.messages(on: .notes).first(1) == [Note([3])])
      }
    }
  }

  // MARK: Readers

  @Test func `a reader of events that were dropped learns how many`() async {
    let inbox = Inbox<Int>(limit: 2, overflow: .dropOldestAndReport { -$0 })
    for number in 1...5 { _ = inbox.push(number) }
    #expect(await inbox.next() == -3)
    #expect(inbox.pop() == 4 && inbox.pop() == 5 && inbox.pop() == nil)
    for number in 6...8 { _ = inbox.push(number) }
    #expect([inbox.pop(), inbox.pop(), inbox.pop(), inbox.pop()] == [-1, 7, 8, nil])
  }

  @Test func `a session tells its reader how many events were dropped`() async throws {
    // With one kind of link there are no changes of the link but these.
    try await withPair(over: .stream) { pair in
      await pair.hosting.hubs[0].emitLinkChanges(PeerEvents.limit + 2, of: pair.client)
      #expect(pair.hosting.poll() == .missed(events: 2))
      #expect(pair.hosting.poll() == .linkChanged(pair.client, .stream))
    }
  }

  @Test func `the newest message of a channel on which every message counts has no view`()
    async
  {
    await #expect(processExitsWith: .failure) {
      await withUnconnectedPeer { _ = $0.latest(on: .notes) }
    }
  }

  @Test func `a response that is too long fails the request at once`() async throws {
    try await withPair { pair in
      let exchange = Exchange<Note, Note>(9)
      let responding = Task {
        await pair.hosting.respond(to: exchange) { _, _ in
          Note([UInt8](repeating: 1, count: 1 << 20))
        }
      }
      await #expect(throws: RequestError.failed) {
        _ = try await pair.host.request(Note([1]), over: exchange, within: .seconds(30))
      }
      responding.cancel()
    }
  }
}

extension Note {
  /// A message for which a queue that is full of notes has no room.
  fileprivate static var large: Note { Note([UInt8](repeating: 2, count: 900_000)) }
}

extension SessionPair {
  /// Sends notes to the client, which does not read them, until the send queue is full. Returns the
  /// number of notes.
  @discardableResult
  fileprivate func fillClientNotes() async throws -> Int {
    let note = Note([UInt8](repeating: 1, count: 250_000))
    var count = 0
    while true {
      do throws(SendError) {
        try await client.trySend(note, on: .notes)
        count += 1
      } catch {
        guard case .queueFull = error else { throw error }
        return count
      }
    }
  }
}

extension SessionHub {
  /// The number of messages that wait for room in the send queue to `peer`.
  fileprivate func waitingSends(to peer: Peer) -> Int {
    node.assumeIsolated { $0.waiters.sends[peer.connectionID]?.entries.count ?? 0 }
  }

  /// Lets the node report `count` changes of the peer's link.
  fileprivate func emitLinkChanges(_ count: Int, of peer: Peer) {
    node.assumeIsolated { node in
      for _ in 0..<count { node.emit(.linkChanged(peer.connectionID, .stream)) }
    }
  }
}
