import CaromCore
import CaromTransport
import TestRelay
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
      "--key", backend.keyFile, "--games", "1", "--transport", transport)
    let port = try await game.port()
    let stranger = try RunningGame.join(port, "--transport", transport)
    #expect(await stranger.process.status == 69)
    #expect(await stranger.process.errors.all().last?.contains("protected differently") == true)
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

  @Test func `a host accepts the tokens of two keys while the key is changed`() async throws {
    let backends = [try await TokenBackend(), try await TokenBackend()]
    defer { for backend in backends { backend.end() } }
    let game = try RunningGame.host(
      "--key", backends[0].keyFile, "--key", backends[1].keyFile)
    let port = try await game.port()
    for backend in backends {
      let token = try await backend.makeToken(for: "127.0.0.1:\(port)")
      let player = try RunningGame.join(port, "--token", token, "--seconds", "1")
      let report = try await player.report()
      #expect(report.security == "token" && report.endReason == "finished")
    }
    await game.process.end()
  }

  @Test(arguments: [true, false])
  func `a player comes through a proxy that wants routing bytes`(hasToken: Bool) async throws {
    try await withNetworkLoop { loop in
      let backend = try await TokenBackend()
      defer { backend.end() }
      let proxy = RoutingProxy(.suffix, on: loop)
      let front = try await proxy.open()
      let game = try RunningGame.host(
        hasToken ? "--key" : "--identity", hasToken ? backend.keyFile : backend.keyFile + ".id")
      let port = try await game.port()
      await proxy.add([0xA1, 0xB2], to: Endpoint(.loopback4, port: try #require(UInt16(port))))
      let routing = ["--routing-suffix", "a1b2"]
      let options =
        if hasToken {
          // The host accepts tokens for its own endpoint.
          [
            "--token",
            try await backend.makeToken(
              for: front.description, "127.0.0.1:\(port)", with: routing),
          ]
        } else { routing }
      let player = try RunningGame(
        ["join", front.description, "--bot", "--json", "--transport", "udp", "--seconds", "1"]
          + options)
      #expect(try await player.report().endReason == "finished")
      #expect(await proxy.ports >= 1)
      await game.process.end()
      await proxy.close()
    }
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
