import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// Rollback matches of three and more without a server, over sessions on loopback.
@Suite struct PeerRollbackTests {
  /// Plays until `isDone`, and returns the players who finished, in order.
  private static func play(
    _ match: PeerRollback<Tally>, until isDone: (PeerRollback<Tally>, [Int]) -> Bool
  ) async -> [Int] {
    var order: [Int] = []
    for await _ in match.ticks {
      match.advance(with: Tally.Points(Int32(match.player ?? 0) + 1))
      while let event = match.pollEvent() {
        if case .confirmed(.finished(let player), _) = event { order.append(player) }
      }
      if isDone(match, order) { break }
    }
    return order
  }

  /// The notices of a match so far, without those about its pace, which a busy machine causes.
  private static func notices(_ match: PeerRollback<Tally>) -> [PeerRollback<Tally>.Notice] {
    var notices: [PeerRollback<Tally>.Notice] = []
    while let notice = match.pollNotice() {
      if notice != .stalling, notice != .running { notices.append(notice) }
    }
    return notices
  }

  @Test func `three players see the same match, and the host ends it`() async throws {
    try await withNetworkLoop { loop in
      let (ports, opened) = AsyncStream.makeStream(of: UInt16.self)
      let hosting = Task {
        try await Session.host(
          as: makePeer("host"), on: [.loopback4], seats: 2, loop: loop
        ) { session, port in
          opened.yield(port)
          let match = try await RollbackSession.host(
            Tally(), players: 3, over: session, rate: 120)
          #expect(match.player == 0)
          let order = await Self.play(match) { match, order in
            // The others need this side's last inputs to confirm the last event.
            order.count == 3 && match.match.map { $0.rollback.confirmedTick > Tick(160) } == true
          }
          #expect(Self.notices(match) == [.began(player: 0)])
          return order
        }
      }
      for await port in ports {
        let orders = try await withThrowingTaskGroup { group in
          for number in 1...2 {
            group.addTask {
              try await Session.join(
                [Endpoint(.loopback4, port: port)], as: makePeer("\(number)"), loop: loop
              ) { session, host in
                let match = try await RollbackSession<Tally>.join(host, over: session)
                let order = await Self.play(match) { _, _ in false }
                #expect(match.endReason == .finished)
                let player = try #require(match.player)
                #expect(
                  Self.notices(match) == [.began(player: player), .ended(.finished)])
                return order
              }
            }
          }
          return try await group.reduce(into: [[Int]]()) { $0.append($1) }
        }
        #expect(try await hosting.value == [2, 1, 0])
        #expect(orders == [[2, 1, 0], [2, 1, 0]])
        break
      }
    }
  }

  @Test func `the others go on without a player who leaves`() async throws {
    try await withHostedSession(seats: 2) { hosted in
      let hasHostSeenAll = Locked(false)
      let hosting = Task {
        let match = try await RollbackSession.host(
          Tally(), players: 3, over: hosted.session, rate: 120)
        let order = await Self.play(match) { _, order in order.count == 2 }
        hasHostSeenAll.withLock { $0 = true }
        let left = Self.notices(match).contains {
          if case .left(_, .finished) = $0 { true } else { false }
        }
        #expect(left)
        // The other side needs the last inputs.
        _ = await Self.play(match) { _, _ in Task.isCancelled }
        return order.count
      }
      let leaving = Task {
        try await hosted.join(makePeer("leaves")) { session, host in
          let match = try await RollbackSession<Tally>.join(host, over: session)
          _ = await Self.play(match) { match, _ in
            match.match.map { $0.rollback.confirmedTick > Tick(10) } == true
          }
        }
      }
      try await hosted.join(makePeer("stays")) { session, host in
        let match = try await RollbackSession<Tally>.join(host, over: session)
        // The host needs this side's last inputs too.
        let order = await Self.play(match) { _, order in
          order.count == 2 && hasHostSeenAll.withLock { $0 }
        }
        #expect(order.count == 2 && match.endReason == nil)
      }
      try await leaving.value
      hosting.cancel()
      #expect(try await hosting.value == 2)
    }
  }

  @Test func `a host that violates the protocol is left, and a player who does is removed`()
    async throws
  {
    try await withPair { pair in
      let match = PeerRollback<Tally>(pair.host, over: pair.visiting)
      let control = MessageChannel<EncodedMessage>(55, .reliableOrdered)
      // A keyframe without a seat.
      try await pair.client.send(EncodedMessage([0, 2]), on: control)
      for await _ in match.ticks {}
      #expect(match.endReason == .protocolViolation && match.state == nil)
      #expect(match.pollNotice() == .ended(.protocolViolation))
    }
    try await withPair { pair in
      let match = PeerRollback(hosting: Tally(), players: 2, over: pair.hosting)
      let control = MessageChannel<EncodedMessage>(55, .reliableOrdered)
      // A message to a player that the match does not have.
      try await pair.host.send(EncodedMessage([7, 0]), on: control)
      var left = false
      for await _ in match.ticks {
        match.advance()
        while let notice = match.pollNotice() {
          if case .left(player: 1, .protocolViolation) = notice { left = true }
        }
        if left { break }
      }
      #expect(left)
    }
  }

  @Test func `a frame loop plays with one call per frame`() async throws {
    try await withPair { pair in
      let host = PeerRollback(hosting: Tally(), players: 2, over: pair.hosting, rate: 240)
      let client = PeerRollback<Tally>(pair.host, over: pair.visiting)
      var finished: [Int] = []
      while finished.isEmpty {
        host.update { _ in Tally.Points(9) }
        client.update { match in
          #expect(match === client)
          return Tally.Points(0)
        }
        while let event = client.pollEvent() {
          if case .confirmed(.finished(let player), _) = event { finished.append(player) }
        }
        try await nextFrame()
      }
      #expect(finished == [0] && client.player == 1 && host.player == 0)
      #expect(!host.isTickDue && host.advance() != nil)
    }
  }
}
