import CaromSessionTesting
import Testing

/// Rollback matches and worlds over sessions on networks in trouble: what each side is told, and
/// that the match goes on.
@Suite struct MatchTroubleTests {
  fileprivate typealias HostNotice = HostedRollback<Pushes>.Notice
  fileprivate typealias Notice = JoinedRollback<Pushes>.Notice

  /// Serves a match of one player until it has left, and returns the notices about it.
  private static func serve(_ session: Session) async throws -> [HostNotice] {
    let match = HostedRollback(
      RollbackServer(Pushes(), players: 1, at: session.loop.now), over: session)
    var notices: [HostNotice] = []
    for await _ in match.ticks {
      match.advance()
      while let notice = match.pollNotice() {
        if case .left = notice { return notices }
        notices.append(notice)
      }
    }
    return notices
  }

  /// Plays with an input delay that adapts only after the first notice of late inputs, until three
  /// seconds after the notice that they are in time.
  private static func playLate(_ session: Session, with host: Peer) async throws -> [Notice] {
    let match = try await RollbackClient<Pushes>.join(host, over: session, window: 20)
    match.client.adaptsInputDelay = false
    var notices: [Notice] = []
    var end: Instant?
    for await tick in match.ticks {
      match.advance(with: Pushes.Push(at: tick))
      while let notice = match.pollNotice() {
        notices.append(notice)
        if notice == .inputsLate { match.client.adaptsInputDelay = true }
        if notice == .inputsOnTime { end = session.loop.now + .seconds(3) }
      }
      if let end, session.loop.now > end { break }
    }
    return notices
  }

  @Test func `inputs that are late for a second are noticed on both sides, and so is their end`()
    async throws
  {
    try await SessionWorld.run(seed: 1) { world in
      let path = LinkProfile("path", LinkConditions(oneWay: .milliseconds(300)))
      let pair = WorldPair(in: world, profile: path)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        async let serving = Self.serve(hosting)
        let notices = try await pair.join(port) { session, host in
          try await Self.playLate(session, with: host)
        }
        #expect(notices == [.seated(player: 0), .inputsLate, .inputsOnTime])
        let served = try await serving
        guard case .joined(let peer, player: 0)? = served.first else {
          Issue.record("\(served)")
          return
        }
        #expect(served.suffix(2) == [.inputsLate(peer, player: 0), .inputsOnTime(peer, player: 0)])
      }
    }
  }

  // MARK: Interruptions

  /// What a client saw of a match in which its network failed.
  private struct Interruption: Sendable {
    var notices: [Notice] = []
    /// The confirmed tick before the failure and at the end.
    var confirmed: (before: Tick, end: Tick) = (.zero, .zero)
    /// The inputs that the host has replaced in the last three seconds.
    var overridden = 0
  }

  /// Cuts the client's network after two seconds, for six seconds.
  private static func fail(_ pair: WorldPair) async throws {
    try await pair.world.sleep(for: .seconds(2))
    pair.world.withNetwork { $0.cut(pair.client.host) }
    try await pair.world.sleep(for: .seconds(6))
    pair.world.withNetwork { $0.restore(pair.client.host) }
  }

  /// Plays for 20 s, in which the network fails.
  private static func playThroughFailure(
    _ session: Session, with host: Peer, of pair: WorldPair
  ) async throws -> Interruption {
    let match = try await RollbackClient<Pushes>.join(host, over: session)
    async let failure: Void = fail(pair)
    let start = session.loop.now
    var report = Interruption()
    var overridden: Int?
    for await tick in match.ticks {
      match.advance(with: Pushes.Push(at: tick))
      while let notice = match.pollNotice() { report.notices.append(notice) }
      let time = session.loop.now - start
      let confirmed = match.client.rollback?.confirmedTick ?? .zero
      if time < .seconds(2) { report.confirmed.before = confirmed }
      report.confirmed.end = confirmed
      if time > .seconds(17), overridden == nil { overridden = match.client.overriddenInputs }
      if time > .seconds(20) { break }
    }
    report.overridden = match.client.overriddenInputs - (overridden ?? 0)
    try await failure
    return report
  }

  @Test func `a player without a network for some seconds is told, and goes on with the match`()
    async throws
  {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        async let serving = Self.serve(hosting)
        let report = try await pair.join(port) { session, host in
          try await Self.playThroughFailure(session, with: host, of: pair)
        }
        let notices = report.notices.filter { $0 != .inputsLate && $0 != .inputsOnTime }
        #expect(notices == [.seated(player: 0), .interrupted, .resumed])
        // 18 s later, as many ticks are confirmed: the host has not stopped for the player.
        #expect(report.confirmed.before.distance(to: report.confirmed.end) > 17 * 60)
        #expect(report.overridden == 0)
        // To the host the player was there all the time.
        let joins = try await serving.filter { if case .joined = $0 { true } else { false } }
        #expect(joins.count == 1)
      }
    }
  }

  private static let schema = EntitySchema(
    .position(0...100, step: 0.01), .position(0...100, step: 0.01))

  /// Replicates an entity whose first field is the number of the tick.
  private static func replicate(_ session: Session) async throws {
    let configuration = WorldConfiguration(schema: schema, ticksPerSecond: 30)
    try await WorldReplicator(configuration).run(over: session) { hosted in
      hosted.world.set(7, values: [Int64(hosted.world.tick.next.rawValue), 0])
    }
  }

  @Test func `a peer without a network for some seconds sees the world again`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        async let _ = Self.replicate(hosting)
        try await pair.join(port) { session, host in
          let view = JoinedWorld(host, schema: Self.schema, over: session)
          async let failure: Void = Self.fail(pair)
          let start = session.loop.now
          var longest = Duration.zero
          var last: Instant?
          for await tick in view.updates {
            if let last { longest = max(longest, session.loop.now - last) }
            last = session.loop.now
            #expect(view.entities.ids == [7])
            #expect(view.entities.value(0, at: 0) == Int64(tick.rawValue))
            if session.loop.now > start + .seconds(20) { break }
          }
          #expect(longest > .seconds(5) && view.endReason == nil)
          try await failure
        }
      }
    }
  }

  // MARK: Channels

  /// Serves a match on two channels that are not the default ones.
  private static func serve(_ session: Session, on channels: RollbackChannels) async throws {
    let server = RollbackServer(Pushes(), players: 1, at: session.loop.now)
    try await server.run(over: session, channels: channels)
  }

  @Test func `a match leaves all channels to the game but the two that both sides have chosen`()
    async throws
  {
    let channels = RollbackChannels(inputs: 3, control: 4)
    let usual = RollbackChannels()
    let texts = [usual.inputs.id, usual.control.id].map {
      MessageChannel<String>($0, .reliableOrdered)
    }
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        async let _ = Self.serve(hosting, on: channels)
        try await pair.join(port) { session, host in
          let match = try await RollbackClient<Pushes>.join(
            host, over: session, channels: channels)
          for channel in texts { try await host.send("hello", on: channel) }
          for await tick in match.ticks {
            match.advance(with: Pushes.Push(at: tick))
            if let confirmed = match.client.rollback?.confirmedTick, confirmed > Tick(120) { break }
          }
          #expect(match.endReason == nil && match.player == 0)
          for channel in texts { #expect(await hosting.take(1, on: channel) == ["hello"]) }
        }
      }
    }
  }
}
