import Foundation
import Testing

/// When the other player is lost, the match ends once, with the reason.
@Suite(.turns, .enabled(if: Lab.isPossible, Lab.need)) struct LossTests {
  /// Runs `body` while a host and a client on two computers play a match. Each waits for
  /// `reconnect` seconds if it loses the other.
  private func play(
    over transport: String = "auto", reconnect: Int = 0,
    _ body: (Lab, _ host: RunningGame, _ client: RunningGame) async throws -> Void
  ) async throws {
    try await Lab.run(hosts: 2) { lab in
      let host = try RunningGame(
        [
          "host", "--bot", "--json", "--name", "Maya", "--port", "7777", "--reconnect",
          "\(reconnect)",
        ], on: "h1", of: lab)
      try await host.line("visible as")
      let client = try RunningGame(
        [
          "join", "10.77.0.1:7777", "--bot", "--json", "--name", "Leo", "--transport", transport,
          "--reconnect", "\(reconnect)",
        ], on: "h2", of: lab)
      try await host.line("Leo sits down")
      try await client.line("Maya sits down")
      try await body(lab, host, client)
    }
  }

  /// When a process is killed, its TCP streams end, but its UDP peers only time out.
  @Test(arguments: [("tcp", "match ended: connection"), ("udp", "match ended: timedOut")])
  func `a host reports a killed client once and waits for another`(
    transport: String, line: String
  ) async throws {
    try await play(over: transport) { _, host, client in
      client.process.signal(SIGKILL)
      try await host.line(line)
      await host.process.end()
      let ends = await host.ends
      #expect(ends.count == 1)
    }
  }

  @Test(arguments: [("tcp", ["connectionReset", "connectionLost"]), ("udp", ["timedOut"])])
  func `a client ends when its host is killed`(transport: String, reasons: [String]) async throws {
    try await play(over: transport) { _, host, client in
      host.process.signal(SIGKILL)
      let report = try await client.report()
      #expect(reasons.contains(report.endReason))
      #expect(await client.process.status == (transport == "udp" ? 75 : 68))
      #expect(await client.ends == ["match ended: \(report.endReason)"])
    }
  }

  @Test(arguments: [true, false])
  func `a cut cable times out on both sides`(silently: Bool) async throws {
    try await play { lab, host, client in
      try await lab.cut("h2", silently: silently)
      #expect(try await client.report().endReason == "timedOut")
      try await host.line("match ended: timedOut")
      await host.process.end()
      let (clientEnds, hostEnds) = (await client.ends, await host.ends)
      #expect(clientEnds.count == 1 && hostEnds.count == 1)
    }
  }

  @Test func `a match is paused while a player has no network, and then continues`() async throws {
    try await play(reconnect: 10) { lab, host, client in
      try await lab.cut("h2")
      try await host.line("no connection to Leo")
      try await host.line("Maya pauses the match")
      try await client.line("no connection to Maya")
      try await lab.heal("h2")
      try await host.line("Leo is back")
      try await client.line("Maya is back")
      // The client reports confirmed events only, so it follows the host's simulation again.
      try await client.line("Maya resumes")
      client.process.signal(SIGINT)
      #expect(try await client.report().desyncs == 0)
      try await host.line("match ended: left")
      await host.process.end()
    }
  }

  @Test func `a host ends the match of a player who does not return`() async throws {
    try await play(reconnect: 1) { lab, host, client in
      client.process.signal(SIGKILL)
      try await host.line("no connection to Leo")
      try await host.line("match ended: timedOut")
      await host.process.end()
      #expect(await host.ends == ["match ended: timedOut"])
    }
  }

  @Test func `an interrupted client says goodbye`() async throws {
    try await play { _, host, client in
      client.process.signal(SIGINT)
      #expect(try await client.report().endReason == "interrupted")
      #expect(await client.process.status == 0)
      try await host.line("match ended: left")
      await host.process.end()
      #expect(await host.ends == ["match ended: left"])
    }
  }

  @Test func `a stopped client times out, and ends when it continues`() async throws {
    try await play(over: "tcp") { _, host, client in
      client.process.signal(SIGSTOP)
      try await host.line("match ended: timedOut")
      client.process.resume()
      let report = try await client.report()
      // The client reads that the host has closed the connection before it can time out itself.
      #expect(["connectionReset", "connectionLost"].contains(report.endReason))
      // It does not simulate the four seconds that it missed.
      #expect(report.ticks - report.frames < 200)
      await host.process.end()
      let (clientEnds, hostEnds) = (await client.ends, await host.ends)
      #expect(clientEnds.count == 1 && hostEnds == ["match ended: timedOut"])
    }
  }

  @Test func `a stopped host times out, and waits for another client when it continues`()
    async throws
  {
    try await play { _, host, client in
      host.process.signal(SIGSTOP)
      #expect(try await client.report().endReason == "timedOut")
      host.process.resume()
      try await host.line("match ended: ")
      await host.process.end()
      let ends = await host.ends
      #expect(ends.count == 1)
    }
  }
}
