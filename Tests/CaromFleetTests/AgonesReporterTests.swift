import CaromCore
import CaromPlacement
import CaromProtocol
import CaromSession
import CaromTransport
import TestAgones
import Testing

@testable import CaromFleet

/// What hosts report to a stand-in for Agones on loopback.
@Suite(.timeLimit(.minutes(1)))
struct AgonesReporterTests {
  /// A reporter and what it has told.
  private final class TestReporter {
    let reporter: AgonesReporter
    private(set) var events: [AgonesReporter.Event] = []
    private var iterator: AsyncStream<AgonesReporter.Event>.Iterator

    init(to port: UInt16, seats: Int = 2, on loop: NetworkLoop) {
      let (stream, happened) = AsyncStream.makeStream(of: AgonesReporter.Event.self)
      iterator = stream.makeAsyncIterator()
      reporter = AgonesReporter(to: AgonesSidecar(port: port), seats: seats, on: loop) {
        happened.yield($0)
      }
    }

    func next() async -> AgonesReporter.Event? {
      guard let event = await iterator.next(isolation: #isolation) else { return nil }
      events.append(event)
      return event
    }
  }

  /// Runs `body` on the thread of a new loop, with a stand-in that nobody listens to yet.
  private static func with(
    _ object: AgonesObject = AgonesObject(),
    body: @escaping @Sendable (AgonesStandIn, NetworkLoop) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      let standIn = AgonesStandIn(object, on: loop)
      try await Task(executorPreference: loop) { try await body(standIn, loop) }.value
      #expect(await standIn.complaints == [])
      await standIn.close()
    }
  }

  private static var impatient: AgonesObject {
    var object = AgonesObject()
    (object.period, object.failureThreshold, object.initialDelay) = (1, 3, 0)
    return object
  }

  @Test func `Agones hears of a host from its start to its end, and of its players`() async throws {
    try await Self.with(Self.impatient) { standIn, loop in
      let test = TestReporter(to: try await standIn.listen(), on: loop)
      let reporter = test.reporter
      try await Session.host(
        as: PeerInfo(name: "table", application: "hockey"), on: [.loopback4], seats: 2,
        spectatorSeats: 1, loop: loop
      ) { session, port in
        await reporter.begin(session)
        await reporter.setMatches(0, capacity: 1)
        await standIn.waitForServer { $0.state == "Ready" && $0.counters["rooms"]?.count == 0 }
        let host = [Endpoint(.loopback4, port: port)]
        let spectator = PeerInfo(name: "S", application: "hockey", isSpectator: true)
        let player = PeerInfo(name: "Leo", application: "hockey")
        try await Session.join(host, as: spectator, loop: loop) { _, _ in
          let first = await standIn.call("POST /health")
          #expect(await standIn.server.lists["players"]?.values == [])
          #expect(await standIn.server.state == "Ready")
          let id = try await Session.join(host, as: player, loop: loop) { session, _ in
            let id = session.node.local.id
            await standIn.waitForServer { $0.lists["players"]?.values == ["\(id)"] }
            #expect(await standIn.server.state == "Allocated")
            #expect(await standIn.server.lists["players"]?.capacity == 2)
            await reporter.setMatches(1, capacity: 1)
            await standIn.waitForServer { $0.counters["rooms"] == .init(count: 1, capacity: 1) }
            // Twice a second, so that a server that is silent for three would be missed.
            let last = await standIn.call("POST /health", 7)
            #expect(last.time - first.time > .seconds(2))
            return id
          }
          await standIn.waitForServer { $0.lists["players"]?.values == [] }
          #expect(await !standIn.calls.last!.body.contains("\(id)"))
        }
        #expect(await standIn.server.state == "Allocated")
        await reporter.shutdown()
      }
      #expect(await standIn.server.state == "Shutdown")
      let lines = await standIn.calls.map(\.line)
      #expect(lines.prefix(2) == ["POST /ready", "GET /gameserver"])
      #expect(lines.last == "POST /shutdown")
      #expect(lines.count { $0 == "POST /ready" } == 1)
      #expect(lines.count { $0 == "POST /allocate" } == 1)
      #expect(lines.count { $0 == "GET /gameserver" } == 1)
      #expect(lines.count { $0.hasPrefix("PATCH /v1beta1/counters/rooms") } == 2)
      #expect(lines.count { $0.hasPrefix("PATCH /v1beta1/lists/players") } == 3)
      #expect(test.events == [])
    }
  }

  @Test func `a host that says nothing about its health is missed`() async throws {
    try await Self.with(Self.impatient) { standIn, loop in
      let test = TestReporter(to: try await standIn.listen(), on: loop)
      await test.reporter.begin()
      await standIn.call("POST /health", 3)
      #expect(await standIn.server.state == "Ready")
      await test.reporter.setHealthy(false)
      await standIn.waitForServer { $0.state == "Unhealthy" }
      await test.reporter.shutdown()
    }
  }

  @Test func `a sidecar that comes late and goes away in between is told of once each`()
    async throws
  {
    try await Self.with { standIn, loop in
      let port = try await standIn.listen()
      await standIn.close()
      let test = TestReporter(to: port, on: loop)
      await test.reporter.begin()
      #expect(await test.next() == .away(.transport(.connectionRefused)))
      try await standIn.listen(port: port)
      #expect(await test.next() == .back)
      await standIn.waitForServer { $0.state == "Ready" && $0.lists["players"]?.capacity == 2 }
      await standIn.close()
      await test.reporter.setMatches(1, capacity: 4)
      guard case .away? = await test.next() else {
        Issue.record("\(test.events)")
        return
      }
      try await standIn.listen(port: port)
      #expect(await test.next() == .back)
      await standIn.waitForServer { $0.counters["rooms"] == .init(count: 1, capacity: 4) }
      #expect(await standIn.calls.count { $0.line == "POST /ready" } == 1)
      await test.reporter.shutdown()
      #expect(await standIn.server.state == "Shutdown" && test.events.count == 4)
    }
  }

  @Test(arguments: AgonesStandIn.Fault.allCases)
  func `whatever a sidecar does wrong is bounded, and told once`(
    fault: AgonesStandIn.Fault
  ) async throws {
    try await Self.with { standIn, loop in
      await standIn.setFault(fault)
      let port = try await standIn.listen()
      let test = TestReporter(to: port, on: loop)
      await test.reporter.begin()
      let expected: AgonesError =
        switch fault {
        case .fails: .status(500)
        case .closesEarly: .incomplete
        case .isEndless: .tooLong
        case .isSilent, .drips: .transport(.timedOut)
        case .isOther: .malformed
        }
      #expect(await test.next() == .away(expected))
      await standIn.waitForCalls(3)
      await standIn.setFault(nil)
      #expect(await test.next() == .back)
      await standIn.waitForServer { $0.state == "Ready" }
      // Its end does not wait for a sidecar that has become silent.
      await standIn.setFault(.isSilent)
      let start = loop.now
      await test.reporter.shutdown()
      #expect(loop.now - start >= AgonesGameServer.shutdownLimit)
      #expect(await standIn.calls.last?.line == "POST /shutdown")
    }
  }

  @Test func `a list that the fleet does not have is told of once, and nothing waits for it`()
    async throws
  {
    var object = AgonesObject()
    object.lists = [:]
    try await Self.with(object) { standIn, loop in
      let test = TestReporter(to: try await standIn.listen(), on: loop)
      await test.reporter.begin()
      let list = "PATCH /v1beta1/lists/players"
      #expect(await test.next() == .refused(request: list, status: 404))
      await test.reporter.setMatches(3, capacity: 4)
      await standIn.waitForServer { $0.counters["rooms"] == .init(count: 3, capacity: 4) }
      await test.reporter.shutdown()
      #expect(await standIn.server.state == "Shutdown")
    }
  }

  @Test func `a reporter that has not begun has nothing to end`() async throws {
    try await Self.with { standIn, loop in
      let test = TestReporter(to: try await standIn.listen(), on: loop)
      await test.reporter.setMatches(1, capacity: 1)
      await test.reporter.shutdown()
      #expect(await standIn.calls == [])
    }
  }

  @Test func `the port of the sidecar is a number, or Agones does not run the host`() throws {
    func sidecar(_ port: String?) throws(AgonesPortError) -> AgonesSidecar? {
      var environment = ["PATH": "/bin"]
      environment[AgonesSidecar.portVariable] = port
      return try AgonesSidecar(environment: environment)
    }
    #expect(AgonesSidecar.portVariable == "AGONES_SDK_HTTP_PORT")
    #expect(try sidecar(nil) == nil && sidecar("") == nil)
    #expect(try sidecar("9358") == AgonesSidecar(port: 9_358))
    for text in ["0", "65536", "-1", "+80", "http", "93 58", "9358\n"] {
      #expect(throws: AgonesPortError.invalid(text)) { try sidecar(text) }
    }
    #expect("\(AgonesPortError.invalid("x"))".contains("unset it to run without Agones"))
  }

  @Test(
    arguments: [
      (#"{"status":{"state":"Ready"},"spec":{"health":{"period_seconds":7}}}"#, 7),
      (
        #"{"status":{"state":"Ready"},"spec":{"health":{"period_seconds":7,"disabled":true}}}"#, nil
      ),
      (#"{"status":{"state":"Ready"},"spec":{}}"#, 3), (#"{"status":{"state":"Ready"}}"#, 3),
    ] as [(String, Int?)])
  func `a game server is read from JSON`(json: String, period: Int?) {
    let status = AgonesStatus(json: Array(json.utf8))
    #expect(status == AgonesStatus(state: "Ready", healthPeriod: period.map { .seconds($0) }))
  }

  @Test(arguments: [
    "", "{}", "[]", "{\"status\":7}", String(repeating: "[", count: 60_000), "\u{0}",
    #"{"status":{"state":"Ready"},"spec":{"health":{"period_seconds":"often"}}}"#,
  ])
  func `whatever is no game server is ignored`(json: String) {
    #expect(AgonesStatus(json: Array(json.utf8)) == nil)
  }
}
