import Foundation
import Testing

/// Every way to lose the other player ends the match once, with its reason.
@Suite(.turns, .enabled(if: Lab.isPossible, Lab.need)) struct LossTests {
  /// A host and a guest on two machines, in the midst of a match.
  private func play(
    over transport: String = "auto",
    _ body: (Lab, _ host: RunningGame, _ guest: RunningGame) async throws -> Void
  ) async throws {
    try await Lab.run(hosts: 2) { lab in
      let host = try RunningGame(
        ["host", "--bot", "--json", "--name", "Maya", "--port", "7777"], on: "h1", of: lab)
      try await host.line("visible as")
      let guest = try RunningGame(
        ["join", "10.77.0.1:7777", "--bot", "--json", "--name", "Leo", "--transport", transport],
        on: "h2", of: lab)
      try await host.line("Leo sits down")
      try await guest.line("Maya sits down")
      try await body(lab, host, guest)
    }
  }

  /// A stream ends with its process; of datagrams nothing more comes.
  @Test(arguments: [("tcp", "game ended: connection"), ("udp", "game ended: timedOut")])
  func `a killed guest is told of once, and the table opens again`(
    transport: String, told: String
  ) async throws {
    try await play(over: transport) { _, host, guest in
      guest.process.signal(SIGKILL)
      try await host.line(told)
      await host.process.end()
      let ends = await host.ends
      #expect(ends.count == 1)
    }
  }

  @Test(arguments: [("tcp", ["connectionReset", "connectionLost"]), ("udp", ["timedOut"])])
  func `a killed host ends the guest`(transport: String, reasons: [String]) async throws {
    try await play(over: transport) { _, host, guest in
      host.process.signal(SIGKILL)
      let report = try await guest.report()
      #expect(reasons.contains(report.endReason))
      #expect(await guest.process.status == (transport == "udp" ? 75 : 68))
      #expect(await guest.ends == ["game ended: \(report.endReason)"])
    }
  }

  @Test(arguments: [true, false])
  func `a cut cable times out on both sides`(silently: Bool) async throws {
    try await play { lab, host, guest in
      try await lab.cut("h2", silently: silently)
      #expect(try await guest.report().endReason == "timedOut")
      try await host.line("game ended: timedOut")
      await host.process.end()
      let (told, seen) = (await guest.ends, await host.ends)
      #expect(told.count == 1 && seen.count == 1)
    }
  }

  @Test func `a guest who asks to end says goodbye`() async throws {
    try await play { _, host, guest in
      guest.process.signal(SIGINT)
      #expect(try await guest.report().endReason == "interrupted")
      #expect(await guest.process.status == 0)
      try await host.line("game ended: left")
      await host.process.end()
      #expect(await host.ends == ["game ended: left"])
    }
  }

  @Test func `a stopped guest times out, and ends when it goes on`() async throws {
    try await play(over: "tcp") { _, host, guest in
      guest.process.signal(SIGSTOP)
      try await host.line("game ended: timedOut")
      guest.process.resume()
      let report = try await guest.report()
      // What the host did meanwhile counts before the silence that the guest took no part in.
      #expect(["connectionReset", "connectionLost"].contains(report.endReason))
      // It does not run after the four seconds that it missed.
      #expect(report.ticks - report.frames < 200)
      await host.process.end()
      let (told, seen) = (await guest.ends, await host.ends)
      #expect(told.count == 1 && seen == ["game ended: timedOut"])
    }
  }

  @Test func `a stopped host times out, and opens its table when it goes on`() async throws {
    try await play { _, host, guest in
      host.process.signal(SIGSTOP)
      #expect(try await guest.report().endReason == "timedOut")
      host.process.resume()
      try await host.line("game ended: ")
      await host.process.end()
      let ends = await host.ends
      #expect(ends.count == 1)
    }
  }
}
