import CaromSessionTesting
import Testing

/// The world itself: its time, its limit and its determinism.
@Suite struct SessionWorldTests {
  /// The trace of a chat of several tasks, with losses and a cut cable.
  private func makeTrace(seed: UInt64) async throws -> Trace {
    try await SessionWorld.run(seed: seed, conditions: .mobile) { world in
      world.withNetwork { $0.trace = Trace() }
      let server = world.addHost()
      return try await Session.host(as: .maya, seats: 3, loop: server.loop) { hosting, port in
        async let _ = hosting.echo()
        try await withThrowingTaskGroup { group in
          for number in 0..<3 {
            group.addTask { try await chat(number, with: server, port, in: world) }
          }
          try await world.sleep(for: .seconds(1))
          world.withNetwork { $0.cut(server.host) }
          try await world.sleep(for: .seconds(1))
          world.withNetwork { $0.restore(server.host) }
          try await group.waitForAll()
        }
        return world.withNetwork { $0.trace ?? Trace() }
      }
    }
  }

  private func chat(
    _ number: Int, with server: SessionWorld.Host, _ port: UInt16, in world: SessionWorld
  ) async throws {
    let client = world.addHost()
    let info = PeerInfo(
      id: PeerID(high: world.random(), low: world.random()), name: "client \(number)",
      application: "test")
    try await Session.join(
      [Endpoint(server.v4, port: port)], as: info, retrying: RetryPolicy(attempts: 4),
      loop: client.loop
    ) { session, host in
      for line in 0..<20 {
        try await host.send("\(number) says \(line)", on: .lines)
        try await world.sleep(for: .milliseconds(100))
      }
      let echoed = await session.take(20, on: .lines)
      #expect(echoed == (0..<20).map { "\(number) says \($0)" })
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `runs with the same seed have equal traces`(_ seed: UInt64) async throws {
    let first = try await makeTrace(seed: seed)
    let second = try await makeTrace(seed: seed)
    #expect(first.entries.count > 500)
    #expect(first.firstDifference(from: second) == nil)
  }

  @Test func `runs with different seeds have different traces`() async throws {
    let first = try await makeTrace(seed: 1)
    let second = try await makeTrace(seed: 2)
    #expect(first != second)
  }

  @Test func `time advances only while all tasks wait`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let loop = world.addHost().loop
      #expect(loop.now == .zero)
      async let short: Void = world.sleep(for: .seconds(2))
      try await world.sleep(for: .seconds(5))
      try await short
      #expect(world.now == .zero + .seconds(5))
      for _ in 0..<100 { await Task.yield() }
      #expect(loop.now == .zero + .seconds(5))
    }
  }

  @Test func `a fixed step ticks in virtual time`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let loop = world.addHost().loop
      var ticks = 0
      for await step in FixedStep(hertz: 60, on: loop) {
        #expect(step.lateness == .zero && step.dropped == 0)
        ticks += 1
        if ticks == 61 { break }
      }
      #expect(world.now == .zero + .seconds(1))
    }
  }

  @Test func `a closure that waits for ever is ended at the limit`() async throws {
    await #expect(throws: TimeLimitExceeded(limit: .seconds(30))) {
      try await SessionWorld.run(seed: 1, limit: .seconds(30)) { world in
        let server = world.addHost()
        try await Session.host(as: .maya, loop: server.loop) { hosting, _ in
          _ = await hosting.take(1, on: .lines)
        }
      }
    }
  }

  @Test func `an error of the closure ends the run`() async throws {
    struct Failure: Error {}
    await #expect(throws: Failure.self) {
      try await SessionWorld.run(seed: 1) { world in
        let server = world.addHost()
        try await Session.host(as: .maya, loop: server.loop) { _, _ in throw Failure() }
      }
    }
  }

  @Test func `a name that is no address is unknown`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let loop = world.addHost().loop
      await #expect(throws: TransportError.unknownHost("maya.example.com")) {
        try await loop.lookup(host: "maya.example.com")
      }
      let found = try await loop.lookup(host: "10.0.0.1")
      #expect(found == [.v4(10 << 24 | 1)])
    }
  }
}
