import CaromCore
import CaromTransport
import Testing

@testable import CaromProtocol
@testable import CaromSession

/// Peers that read nothing while their send queue is full (SessionTiming.fullQueueLimit).
@Suite(.timeLimit(.minutes(1))) struct SlowPeerTests {
  private static let limit = Duration.milliseconds(80)

  private func makeTiming(_ limit: Duration?) -> SessionTiming {
    var timing = SessionTiming()
    timing.closeLimit = .milliseconds(100)
    timing.fullQueueLimit = limit
    return timing
  }

  @Test(arguments: [LinkKinds.datagram, .stream, .all])
  func `a peer that reads nothing is disconnected as too slow, and both sides are told`(
    kinds: LinkKinds
  ) async throws {
    try await withPair(over: kinds, timing: makeTiming(Self.limit)) { pair in
      let start = pair.loop.now
      let failures = try await pair.hosting.flood(pair.client)
      #expect(failures == [pair.client: .notConnected])
      #expect(pair.loop.now - start >= Self.limit)
      #expect(await pair.hosting.ending() == .tooSlow)
      #expect(await pair.visiting.ending() == .tooSlow)
    }
  }

  @Test func `a refused message that nobody waits for starts the time too`() async throws {
    try await withPair(timing: makeTiming(Self.limit)) { pair in
      try await pair.fillNotes()
      #expect(await pair.hosting.ending() == .tooSlow)
      #expect(await pair.visiting.ending() == .tooSlow)
    }
  }

  @Test func `a peer that reads a little now and then stays`() async throws {
    // The limit is far above the pauses of a busy machine, and below the time that the test takes.
    try await withPair(timing: makeTiming(.seconds(2))) { pair in
      let sending = Task {
        for _ in 0..<60 {
          try await pair.host.send(Note([UInt8](repeating: 1, count: 250_000)), on: .notes)
        }
      }
      var read = 0
      while read < 60 {
        read += pair.hosting.takeMessages(on: .notes).count
        try #require(await pair.hosting.peers.count == 1)
        try await pair.loop.sleep(until: pair.loop.now + .milliseconds(50))
      }
      try await sending.value
      #expect(await pair.hosting.peers.count == 1)
    }
  }

  /// Page Sessions, Send: a peer that reads slowly is not disconnected.
  @Test func `a peer that reads slowly stays, even if its queue is filled again at once`()
    async throws
  {
    // Only the test examines the queue.
    try await withPair(timing: makeTiming(.seconds(86_400))) { pair in
      try await pair.fillNotes()
      for _ in 0..<2 * FullQueues.checks {
        while try await pair.fillNotes() == 0 {
          _ = pair.hosting.takeMessages(on: .notes)
          try await nextFrame()
        }
        await pair.visiting.node.disconnectSlowPeers()
      }
      #expect(await pair.visiting.peers == [pair.host])
    }
  }

  @Test func `only examinations without progress count, and none while interrupted`() {
    let connection = ConnectionID(1)
    var queues = FullQueues()
    queues.add(connection, acknowledgedFrames: 5)
    #expect(queues.isEmpty && queues.interval == nil, "without a limit nothing is watched")
    queues.limit = .seconds(8)
    #expect(queues.interval == .seconds(1))
    queues.add(connection, acknowledgedFrames: 5)
    queues.add(connection, acknowledgedFrames: 6)
    func examine(_ counts: [UInt32], isInterrupted: Bool = false) -> [Bool] {
      counts.map {
        queues.isTooSlow(connection, acknowledgedFrames: $0, isInterrupted: isInterrupted)
      }
    }
    #expect(examine([5, 5, 5, 5, 5, 5, 5]) == [Bool](repeating: false, count: 7))
    #expect(examine(Array(6...30)) == [Bool](repeating: false, count: 25))
    #expect(examine([30, 30, 30, 30, 30, 30, 30]) == [Bool](repeating: false, count: 7))
    #expect(examine([30], isInterrupted: true) == [false])
    #expect(
      examine([30, 30, 30, 30, 30, 30, 30, 30]) == [Bool](repeating: false, count: 7) + [true])
    queues.remove(connection)
    #expect(queues.isEmpty && examine([30]) == [false])
  }
}

extension Session {
  /// Broadcasts notes that `peer` does not read, until it is disconnected.
  fileprivate func flood(_ peer: Peer) async throws -> [Peer: SendError] {
    let note = Note([UInt8](repeating: 1, count: 250_000))
    while true {
      let failures = try await broadcast(note, on: .notes, to: [peer])
      if !failures.isEmpty { return failures }
    }
  }
}
