import Testing

/// Matches between players who know a code, on the loopback interface.
@Suite(.turns) struct CodePlayTests {
  @Test(arguments: ["auto", "udp", "tcp"])
  func `two players play by a code, and a wrong one is refused in a line that says what to do`(
    transport: String
  ) async throws {
    let game = try RunningGame.host(
      "--seconds", "1", "--code", "K7QM-2XRT", "--transport", transport)
    let port = try await game.port()
    let stranger = try RunningGame.join(port, "--code", "K7QM-2XRV", "--transport", transport)
    #expect(await stranger.process.status == 69)
    #expect(
      await stranger.process.errors.all()
        == ["air-hockey: the code is wrong or used up: ask the host for its code"])
    let open = try RunningGame.join(port, "--transport", transport)
    #expect(await open.process.status == 69)
    #expect(await open.process.errors.all().last?.contains("join with --code CODE") == true)
    let player = try RunningGame.join(port, "--code", "k7qm2xrt", "--transport", transport)
    for report in [try await game.report(), try await player.report()] {
      #expect(report.security == "code")
      #expect(["AESGCM", "ChaChaPoly"].contains(report.cipher))
      #expect(report.fingerprint?.split(separator: "-").count == 10)
      #expect(report.endReason == "finished")
    }
    let lines = await game.process.errors.all()
    #expect(lines.contains { $0 == "a wrong code was tried" })
  }

  @Test func `a host makes a code if none is given`() async throws {
    let game = try RunningGame.host("--seconds", "1", "--code")
    let line = try await game.line("join code ")
    let code = try #require(line.split(separator: " ").last.map(String.init))
    let player = try RunningGame.join(try await game.port(), "--code", code)
    #expect(try await game.report().endReason == "finished")
    #expect(try await player.report().security == "code")
  }

  @Test(arguments: [
    ["host", "--code", "K7QM"], ["host", "--security", "none", "--code", "K7QM-2XRT"],
    ["host", "--security", "known"], ["host", "--security", "code", "--known", "x"],
    ["join", "x", "--code"],
    ["host", "--security", "none", "--identity", "x"], ["host", "--opponent", "--code"],
    ["host", "--headless", "--code"],
  ])
  func `options that contradict each other are refused`(arguments: [String]) async throws {
    let game = try await GameProcess.run(arguments)
    #expect(game.status == 64 && game.errors.count == 1)
  }
}
