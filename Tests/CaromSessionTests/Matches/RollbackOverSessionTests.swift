import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// Rollback matches over sessions on loopback: the async loops.
@Suite struct RollbackOverSessionTests {
  private static let rate = 120

  private func makeServer(players: Int, on loop: NetworkLoop) -> RollbackServer<Tally> {
    RollbackServer(Tally(), players: players, rate: Self.rate, at: loop.now)
  }

  /// What one side saw of a match.
  private struct Report: Sendable {
    var player: Int?
    var order: [Int] = []
    var game: Tally?
  }

  /// Plays with as many points as the player's number plus one, until `count` players have
  /// finished.
  private static func play(
    _ session: Session, with host: Peer, until count: Int
  ) async throws -> Report {
    let match = try await RollbackClient<Tally>.join(host, over: session)
    var report = Report(player: match.player)
    for await _ in match.ticks {
      match.advance(with: Tally.Points(Int32(match.player ?? 0) + 1))
      while let event = match.pollEvent() {
        if case .confirmed(.finished(let player), _) = event { report.order.append(player) }
      }
      report.game = match.state
      if report.order.count == count { break }
    }
    return report
  }

  @Test func `three players and a spectator see the same match`() async throws {
    try await withHostedSession(seats: 3, spectatorSeats: 1) { hosted in
      let server = makeServer(players: 3, on: hosted.loop)
      let serving = Task { try await server.run(over: hosted.session) }
      let reports = try await withThrowingTaskGroup { group in
        for number in 0..<4 {
          group.addTask {
            let peer = makePeer("\(number)", isSpectator: number == 3)
            return try await hosted.join(peer) { session, host in
              try await Self.play(session, with: host, until: 3)
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      serving.cancel()
      try await serving.value
      #expect(Set(reports.map(\.player)) == [0, 1, 2, nil])
      for report in reports {
        // Players who press for longer or harder finish earlier; all see the same order.
        #expect(report.order == reports[0].order && report.game?.sums.prefix(3).min() ?? 0 >= 100)
      }
    }
  }

  @Test func `a spectator gets no player, even if one is free`() async throws {
    try await withHostedSession(seats: 2, spectatorSeats: 1) { hosted in
      let match = HostedRollback(makeServer(players: 2, on: hosted.loop), over: hosted.session)
      let visit = Task {
        try await hosted.join(makePeer("fan", isSpectator: true)) { session, host in
          try await RollbackClient<Tally>.join(host, over: session).player
        }
      }
      var notices: [HostedRollback<Tally>.Notice] = []
      for await _ in match.ticks {
        match.advance()
        while let notice = match.pollNotice() { notices.append(notice) }
        if notices.count == 1, let fan = match.peers.first { #expect(match.player(of: fan) == nil) }
        if notices.count == 2 { break }
      }
      let player = try await visit.value
      #expect(player == nil)
      guard case .joined(let fan, nil) = notices[0] else {
        Issue.record("\(notices)")
        return
      }
      #expect(notices[1] == .left(fan, player: nil, .finished))
    }
  }

  /// A spectator is a few ticks behind when the match ends.
  @Test(arguments: [false, true])
  func `a client sees the last ticks of a match that ends, and why it ended`(
    isSpectator: Bool
  ) async throws {
    try await withNetworkLoop { loop in
      let (ports, opened) = AsyncStream.makeStream(of: UInt16.self)
      let serving = Task {
        try await Session.host(
          as: makePeer("host"), on: [.loopback4], seats: 2, spectatorSeats: 1, loop: loop
        ) { session, port in
          opened.yield(port)
          let match = HostedRollback(
            RollbackServer(Tally(), players: 2, rate: Self.rate, at: loop.now), over: session)
          for await _ in match.ticks {
            // Player 1 has no peer: the host gives it its input, once somebody is there.
            if !match.peers.isEmpty { match.server.setInput(Tally.Points(9), for: 1) }
            match.advance()
            guard match.server.events.isEmpty else { break }
          }
          match.finish()
          return match.server.state
        }
      }
      for await port in ports {
        let endpoints = [Endpoint(.loopback4, port: port)]
        let peer = makePeer("client", isSpectator: isSpectator)
        try await Session.join(endpoints, as: peer, loop: loop) { session, host in
          let match = try await RollbackClient<Tally>.join(host, over: session)
          for await _ in match.ticks { match.advance() }
          #expect(match.endReason == .finished)
          var finished: [Int] = []
          while let event = match.pollEvent() {
            if case .confirmed(.finished(let player), _) = event { finished.append(player) }
          }
          let game = try await serving.value
          let rollback = try #require(match.client.rollback)
          #expect(finished == [1] && rollback.state(at: rollback.confirmedTick) == game)
          var notices: [JoinedRollback<Tally>.Notice] = []
          while let notice = match.pollNotice() { notices.append(notice) }
          #expect(notices == [.seated(player: isSpectator ? nil : 0), .left(.finished)])
          // Nothing more happens.
          match.update()
          #expect(!match.isTickDue && match.pollNotice() == nil)
        }
        break
      }
    }
  }

  @Test func `peers that leave and come back keep their player`() async throws {
    try await withHostedSession(seats: 2) { hosted in
      let match = HostedRollback(makeServer(players: 2, on: hosted.loop), over: hosted.session)
      let (first, second) = (makePeer("first"), makePeer("second"))
      let identities = [first.id: Identity.random(), second.id: Identity.random()]
      let visits = Task {
        for peer in [first, second, first, second] {
          let identity = try #require(identities[peer.id])
          let player = try await hosted.join(peer, as: identity) { session, host in
            try await RollbackClient<Tally>.join(host, over: session).player
          }
          #expect(player == (peer.id == first.id ? 0 : 1))
        }
      }
      var log: [String] = []
      for await _ in match.ticks {
        match.advance()
        while let notice = match.pollNotice() {
          switch notice {
          case .joined(let peer, let player):
            #expect(match.player(of: peer) == player && match.peers == [peer])
            #expect(player.flatMap { match.peer(of: $0) } == peer)
            log.append("\(peer.name) plays \(player ?? -1)")
          case .left(let peer, let player, let reason):
            log.append("\(peer.name), \(player ?? -1), left: \(reason)")
          case .interrupted, .resumed, .inputsLate, .inputsOnTime, .desynced, .missed:
            log.append("trouble")
          }
        }
        if log.count == 8 { break }
      }
      try await visits.value
      let once = [
        "first plays 0", "first, 0, left: finished", "second plays 1", "second, 1, left: finished",
      ]
      #expect(log == once + once)
    }
  }

  @Test func `a full house leaves further players as spectators, and a chooser decides`()
    async throws
  {
    try await withHostedSession(seats: 3) { hosted in
      let server = makeServer(players: 3, on: hosted.loop)
      let serving = Task {
        let match = HostedRollback(server, over: hosted.session, remotePlayers: [1, 2]) {
          peer, free in
          peer.name == "last" ? free.last : free.first
        }
        try await match.run { match in match.server.setInput(Tally.Points(1), for: 0) }
      }
      try await hosted.join(makePeer("last")) { session, host in
        let last = try await RollbackClient<Tally>.join(host, over: session)
        #expect(last.player == 2)
        try await hosted.join(makePeer("first")) { session, host in
          #expect(try await RollbackClient<Tally>.join(host, over: session).player == 1)
          try await hosted.join(makePeer("late")) { session, host in
            let late = try await RollbackClient<Tally>.join(host, over: session)
            #expect(late.player == nil && late.client.isSeated && late.state != nil)
          }
        }
        // The others' loops did not run; this one goes on.
        for await _ in last.ticks {
          if last.advance() == .stepped { break }
        }
      }
      serving.cancel()
      try await serving.value
    }
  }

  @Test func `a peer that violates the protocol is disconnected, and the match goes on`()
    async throws
  {
    try await withHostedSession(seats: 2) { hosted in
      let server = makeServer(players: 2, on: hosted.loop)
      let serving = Task { try await server.run(over: hosted.session) }
      try await hosted.join(makePeer("honest")) { session, host in
        let match = try await RollbackClient<Tally>.join(host, over: session)
        try await hosted.join(makePeer("hostile")) { session, host in
          let channels = RollbackChannels()
          try await host.send(RollbackPacket(.keyframe, [1, 2, 3]), on: channels.control)
          #expect(await session.ending() == .protocolViolation)
        }
        let tick = try #require(match.client.rollback?.confirmedTick)
        for await _ in match.ticks {
          match.advance()
          if match.client.rollback.map({ $0.confirmedTick > tick.advanced(by: 20) }) == true {
            break
          }
        }
        #expect(match.endReason == nil)
      }
      serving.cancel()
      try await serving.value
    }
  }

  @Test func `a host that sends nonsense is left`() async throws {
    try await withPair { pair in
      let channels = RollbackChannels(inputs: 3, control: 4)
      let match = JoinedRollback<Tally>(pair.host, over: pair.visiting, channels: channels)
      // What precedes the seat is ignored, because it may be left of an earlier match. The seat is
      // that of player 0, at 60 ticks a second.
      try await pair.client.send(RollbackPacket(.seat, [0, 60, 0]), on: channels.control)
      try await pair.client.send(RollbackPacket(.disconnect, []), on: channels.control)
      for await _ in match.ticks { match.advance() }
      #expect(match.endReason == .protocolViolation && match.state == nil)
      #expect(await pair.hosting.ending() == .protocolViolation)
    }
  }

  @Test func `joining ends with the reason if no match comes`() async throws {
    try await withPair { pair in
      await #expect(throws: SessionError.transport(.timedOut)) {
        _ = try await RollbackClient<Tally>.join(
          pair.host, over: pair.visiting, within: .milliseconds(50))
      }
      let joining = Task { () async -> SessionError? in
        do throws(SessionError) {
          _ = try await RollbackClient<Tally>.join(pair.host, over: pair.visiting)
          return nil
        } catch { return error }
      }
      await pair.client.kick("no game today")
      #expect(await joining.value == .refused(.kicked("no game today")))
      let cancelled = Task { () async -> SessionError? in
        do throws(SessionError) {
          _ = try await RollbackClient<Tally>.join(pair.host, over: pair.visiting)
          return nil
        } catch { return error }
      }
      cancelled.cancel()
      #expect(await cancelled.value != nil)
    }
  }
}
