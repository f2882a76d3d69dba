import Testing

/// Matches of players whom a backend has given connect tokens, on the loopback interface.
@Suite(.turns) struct TokenPlayTests {
  @Test(arguments: ["auto", "udp", "tcp"])
  func `a player with a token plays once, and those without one are refused`(
    transport: String
  ) async throws {
    let backend = try await TokenBackend()
    defer { backend.end() }
    let game = try RunningGame.host(
      "--key", backend.keyFile, "--matches", "1", "--transport", transport)
    let port = try await game.port()
    let stranger = try RunningGame.join(port, "--transport", transport)
    #expect(await stranger.process.status == 69)
    #expect(await stranger.process.errors.all().last?.contains("use the same security") == true)
    let other = try await TokenBackend()
    defer { other.end() }
    let forged = try await other.makeToken(for: "127.0.0.1:\(port)")
    let forger = try RunningGame.join(port, "--token", forged, "--transport", transport)
    #expect(await forger.process.status == 69)
    #expect(await forger.process.errors.all().last?.contains("not made with") == true)
    let token = try await backend.makeToken(for: "127.0.0.1:\(port)")
    let player = try RunningGame.join(
      port, "--token", token, "--seconds", "1", "--transport", transport)
    let report = try await player.report()
    #expect(report.security == "token" && report.endReason == "finished")
    #expect(["AESGCM", "ChaChaPoly"].contains(report.cipher))
    let again = try RunningGame.join(port, "--token", token, "--transport", transport)
    #expect(await again.process.status == 69)
    #expect(await again.process.errors.all().last?.contains("used") == true)
    await game.process.end()
  }

  @Test(arguments: [
    ["host", "--security", "token"], ["join", "x", "--security", "token"],
    ["host", "--token", "x"], ["join", "x", "--key", "x"], ["watch", "x", "--key", "x"],
    ["auto", "--key", "x"], ["host", "--security", "anyone", "--key", "x"],
    ["join", "x", "--token", "x", "--identity", "y"], ["host", "--opponent", "--key", "x"],
  ])
  func `options that contradict each other are refused`(arguments: [String]) async throws {
    let game = try await GameProcess.run(arguments)
    #expect(game.status == 64 && game.errors.count == 1)
  }

  @Test func `a file that has no token, and one that others can read, is refused in a line`()
    async throws
  {
    let backend = try await TokenBackend()
    defer { backend.end() }
    let cases = [
      (try backend.write("CRT1"), "what carom token make --json prints"),
      (try backend.write(#"{"token": "AAAA", "player": "7"}"#), "ask for another token"),
      (try backend.write("{}", mode: 0o644), "chmod 600"),
      ("/nowhere/token", "no such file"),
    ]
    for (file, part) in cases {
      let game = try await GameProcess.run(["join", "127.0.0.1:9", "--token", file])
      #expect(game.status == 74 && game.errors.count == 1)
      #expect(game.errors.first?.contains(part) == true)
    }
    let key = try backend.write("0123")
    let game = try await GameProcess.run(["host", "--unlisted", "--interface", "lo", "--key", key])
    #expect(game.status == 74 && game.errors.first?.contains("64 hexadecimal digits") == true)
  }
}
