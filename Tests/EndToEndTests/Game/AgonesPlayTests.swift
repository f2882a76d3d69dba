import CaromCore
import CaromTransport
import Foundation
import TestAgones
import TestRedis
import TestRelay
import Testing

@testable import CaromFleet

/// Tables in processes of their own, which report to a stand-in for Agones and answer its probes.
@Suite(.turns) struct AgonesPlayTests {
  /// Runs `body` with a stand-in for Agones that wants to hear of a table's health twice a second.
  private static func withStandIn(
    failureThreshold: Int, _ body: (AgonesStandIn) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      var object = AgonesObject()
      (object.period, object.failureThreshold) = (1, failureThreshold)
      let standIn = AgonesStandIn(object, on: loop)
      try await body(standIn)
      #expect(await standIn.complaints == [])
      await standIn.close()
    }
  }

  private static func start(_ arguments: [String], port: UInt16) throws -> RunningGame {
    try RunningGame(
      arguments + ["--json"], environment: [AgonesSidecar.portVariable: "\(port)"],
      within: .seconds(100))
  }

  /// Asks a table for a resource as a probe does.
  private static func get(
    _ path: String, from port: String, on loop: NetworkLoop
  ) async throws -> (status: Int, text: String) {
    let endpoint = Endpoint(.loopback4, port: try #require(UInt16(port)))
    let request = "GET \(path) HTTP/1.1\r\nHost: \(endpoint)\r\n\r\n"
    let response = try await HTTPExchange(on: loop)
      .perform(Array(request.utf8), to: [endpoint], within: .seconds(10)).get()
    return (response.status, String(decoding: response.content, as: UTF8.self))
  }

  @Test(.enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
  func `a table of a fleet reports its match, and is ready while it admits players`() async throws {
    try await Self.withStandIn(failureThreshold: 20) { standIn in
      let loop = standIn.loop
      try await RedisServer.with { server in
        let backend = try await TokenBackend()
        defer { backend.end() }
        let fleet = ["--fleet", server.fleet(), "--key", backend.keyFile]
        let table = try Self.start(
          ["host", "--interface", "lo", "--name", "T1", "--kiosk"] + fleet,
          port: try await standIn.listen())
        let port = try await table.port()
        let id = try await table.line("in the fleet test as ").split(separator: " ").last ?? ""
        await standIn.waitForServer {
          $0.state == "Ready" && $0.counters["rooms"] == .init(count: 0, capacity: 1)
        }
        #expect(try await Self.get("/ready", from: port, on: loop) == (200, "ready\n"))
        #expect(try await Self.get("/health", from: port, on: loop) == (200, "ok\n"))
        #expect(try await Self.get("/metrics", from: port, on: loop).text.contains("carom_peers "))
        let player = try RunningGame(["join", "m1", "--bot", "--json", "--name", "Leo"] + fleet)
        await standIn.waitForServer {
          $0.state == "Allocated" && $0.lists["players"]?.values.count == 1
            && $0.counters["rooms"] == .init(count: 1, capacity: 1)
        }
        // A table without a lease admits nobody.
        server.stop()
        try await table.line("; the match goes on")
        while try await Self.get("/ready", from: port, on: loop).status == 200 {
          try await loop.sleep(until: loop.now + .milliseconds(50))
        }
        #expect(try await Self.get("/ready", from: port, on: loop).text.contains("no lease"))
        try server.start()
        try await table.line("the fleet's directory is back")
        #expect(try await Self.get("/ready", from: port, on: loop).status == 200)
        let tool = try RunningTool(["fleet", "drain", String(id), "--fleet", server.fleet()])
        #expect(await tool.process.status == 0)
        try await table.line("the match stays here: ")
        let answer = try await Self.get("/ready", from: port, on: loop)
        #expect(answer.status == 503 && answer.text.contains("drains"))
        #expect(await standIn.server.state == "Allocated")
        // The match is over when its player has left, and with it the drain.
        await player.process.end()
        await standIn.waitForServer { $0.state == "Shutdown" }
        #expect(try await table.report().endReason == "drained")
        let lines = await standIn.calls.map(\.line)
        #expect(lines.first == "POST /ready" && lines.last == "POST /shutdown")
        #expect(lines.contains("POST /health"))
      }
    }
  }

  @Test(.enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
  func `a table registers where Agones says that it is, and players come through a proxy there`()
    async throws
  {
    try await Self.withStandIn(failureThreshold: 20) { standIn in
      let proxy = RoutingProxy(.suffix, on: standIn.loop)
      let front = try await proxy.open()
      await standIn.change { $0.ports = [("game", Int(front.port))] }
      let sidecar = try await standIn.listen()
      try await RedisServer.with { server in
        let backend = try await TokenBackend()
        defer { backend.end() }
        let fleet = ["--fleet", server.fleet(), "--key", backend.keyFile]
        let table = try Self.start(
          [
            "host", "--interface", "lo", "--name", "T1", "--advertise", "agones:game",
            "--routing-suffix", "a1b2c3d4e5f60718",
          ] + fleet, port: sidecar)
        let port = try #require(UInt16(try await table.port()))
        await proxy.add(
          [0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0xF6, 0x07, 0x18], to: Endpoint(.loopback4, port: port))
        try await table.line("in the fleet test as ")
        let player = try RunningGame(["join", "m1", "--bot", "--json", "--name", "Leo"] + fleet)
        await standIn.waitForServer { $0.lists["players"]?.values.count == 1 }
        #expect(await proxy.ports == 1)
        await player.process.end()
        await table.process.end()
        #expect(await table.process.status == 0)
      }
      await proxy.close()
    }
  }

  @Test func `a table waits for its sidecar, and is missed when it stands still`() async throws {
    try await Self.withStandIn(failureThreshold: 4) { standIn in
      let port = try await standIn.listen()
      await standIn.close()
      let table = try Self.start(
        ["host", "--unlisted", "--interface", "lo", "--bot", "--name", "Maya"], port: port)
      let tablePort = try await table.port()
      try await table.line("the sidecar of Agones cannot be reached")
      // A match does not need it.
      let player = try RunningGame.join(tablePort)
      try await player.line("game 1 begins")
      try await standIn.listen(port: port)
      try await table.line("the sidecar of Agones is back")
      await standIn.waitForServer {
        $0.state == "Allocated" && $0.lists["players"]?.values.count == 1
      }
      #expect(await !standIn.calls.contains { $0.line == "POST /ready" })
      await player.process.end()
      await standIn.waitForServer { $0.lists["players"]?.values == [] }
      table.process.signal(SIGSTOP)
      await standIn.waitForServer { $0.state == "Unhealthy" }
      table.process.resume()
      await table.process.end()
      #expect(await standIn.server.state == "Shutdown")
      #expect(await table.process.status == 0)
    }
  }

  @Test func `a port of the sidecar that is no number is an error before anything begins`()
    async throws
  {
    let table = try RunningGame(
      ["host", "--unlisted", "--interface", "lo", "--bot"],
      environment: [AgonesSidecar.portVariable: "http"])
    #expect(await table.process.status == 64)
    let errors = await table.process.errors.all()
    #expect(errors.count == 1 && errors.first?.contains("AGONES_SDK_HTTP_PORT is \"http\"") == true)
  }
}
