import CaromCore
import CaromProtocol
import CaromTransport
import Synchronization
import Testing

@testable import CaromSession

/// Session.join: the attempts, their errors and the delays between them.
@Suite(.timeLimit(.minutes(1))) struct JoinPolicyTests {
  /// A host that refuses the first requests as busy, and grants the next one.
  private actor BusyHost: LoopActor {
    nonisolated let loop: NetworkLoop
    private let node: SessionNode
    private let refusals: Int
    private(set) var requests = 0

    init(refusals: Int, on loop: NetworkLoop) {
      self.loop = loop
      self.refusals = refusals
      node = SessionNode(makePeer("host"), seats: 1, on: loop)
    }

    func listen() async throws -> [Endpoint] {
      await node.setHandler(owner: self) { host, event in host.handle(event) }
      return [Endpoint(.loopback4, port: try await node.listen(on: [.loopback4]))]
    }

    private func handle(_ event: SessionEvent) {
      guard case .requested(let connection, _, _) = event else { return }
      requests += 1
      let isRefused = requests <= refusals
      node.assumeIsolated { node in
        if isRefused {
          node.close(connection, Goodbye(.busy))
        } else {
          node.admit(connection)
        }
      }
    }

    func shutdown() async { await node.shutdown() }
  }

  @Test(arguments: 1...4, [LinkKinds.stream, .datagram])
  func `join makes as many attempts as its policy allows, and no more than it needs`(
    attempts: Int, kinds: LinkKinds
  ) async throws {
    try await withNetworkLoop { loop in
      let host = BusyHost(refusals: 2, on: loop)
      let endpoints = try await host.listen()
      let policy = RetryPolicy(attempts: attempts, firstDelay: .milliseconds(1))
      do {
        try await Session.join(
          endpoints, as: makePeer("client"), over: kinds, security: .none, retrying: policy,
          loop: loop
        ) { _, _ in }
        #expect(attempts > 2)
      } catch SessionError.refused(.busy) {
        #expect(attempts < 3)
      }
      #expect(await host.requests == min(attempts, 3))
      await host.shutdown()
    }
  }

  @Test(arguments: [LinkKinds.stream, .datagram, .all])
  func `join does not try again after a refusal that will not pass, and admit is called once`(
    kinds: LinkKinds
  ) async throws {
    let asked = Mutex(0)
    try await withNetworkLoop { loop in
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], over: kinds, loop: loop,
        admit: { _ in
          asked.withLock { $0 += 1 }
          return .decline("no")
        }
      ) { _, port in
        let policy = RetryPolicy(attempts: 5, firstDelay: .milliseconds(1))
        _ = await #expect(throws: SessionError.refused(.declined("no"))) {
          try await Session.join(
            [Endpoint(.loopback4, port: port)], as: makePeer("client"), over: kinds,
            retrying: policy, loop: loop
          ) { _, _ in }
        }
      }
    }
    #expect(asked.withLock { $0 } == 1)
  }

  @Test func `join over a stream waits at least half of the delay before each further attempt`()
    async
  {
    await withNetworkLoop { loop in
      let policy = RetryPolicy(
        attempts: 4, firstDelay: .milliseconds(20), longestDelay: .milliseconds(40))
      let begin = loop.now
      await #expect(throws: SessionError.transport(.connectionRefused)) {
        try await Session.join(
          [Endpoint(IPAddress("127.77.0.1")!, port: 9)], as: makePeer("client"), over: .stream,
          retrying: policy, loop: loop
        ) { _, _ in }
      }
      #expect(begin.duration(to: loop.now) >= .milliseconds(10 + 20 + 20))
    }
  }

  /// The task is cancelled during an attempt or, with a refused one before it, during the delay.
  @Test(arguments: [(LinkKinds.datagram, 0), (.stream, 0), (.all, 0), (.stream, 1)])
  func `a cancelled join throws cancelled, during an attempt and between two of them`(
    kinds: LinkKinds, refusals: Int
  ) async throws {
    try await withNetworkLoop { loop in
      let node = SessionNode(makePeer("host"), seats: 1, on: loop)
      let events = Collector(on: loop)
      await events.watch(node)
      let endpoints = [Endpoint(.loopback4, port: try await node.listen(on: [.loopback4]))]
      let policy = RetryPolicy(
        attempts: 2, firstDelay: .seconds(3_600), longestDelay: .seconds(3_600))
      let joining = Task {
        try await Session.join(
          endpoints, as: makePeer("client"), over: kinds, security: .none, retrying: policy,
          loop: loop
        ) { _, _ in }
      }
      guard case .requested(let request, _, _) = try await events.first(\.isRequest) else { return }
      if refusals > 0 {
        await node.close(request, Goodbye(.busy))
        // The client has read the refusal when it has closed its stream.
        while await !node.isIdle { try await nextFrame() }
      }
      joining.cancel()
      await #expect(throws: SessionError.transport(.cancelled)) { try await joining.value }
      await node.shutdown()
    }
  }

  @Test func `the first endpoint that answers is joined`() async throws {
    try await withPair(seats: 3) { pair in
      let nobody = Endpoint(IPAddress("127.77.0.1")!, port: 9)
      for kinds in [LinkKinds.datagram, .stream] {
        try await Session.join(
          [nobody] + pair.endpoints, as: makePeer("client"), over: kinds, loop: pair.loop
        ) { _, host in #expect(host.name == "host") }
      }
    }
  }
}
