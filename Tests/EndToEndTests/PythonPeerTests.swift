import CaromCore
import CaromTransport
import Foundation
import TestRelay
import Testing

/// An `air-hockey` host on the loopback interface.
private struct HostProcess {
  let game: RunningGame
  let port: String

  /// Starts a host whose player is a computer, or that does not play because it has two clients.
  init(name: String, clients: Int = 1, _ arguments: [String] = []) async throws {
    let player = clients == 1 ? ["--bot"] : ["--players", "\(clients)"]
    let fixed =
      ["host", "--interface", "lo", "--unlisted", "--json", "--name", name] + player
    game = try RunningGame(fixed + arguments)
    port = try #require(try await game.line("port ").split(separator: " ").last.map(String.init))
  }

  /// Runs the Python client until it exits, and returns its summary.
  func play(_ arguments: [String]) async throws -> [String: Any] {
    try await PythonPeer.start(["127.0.0.1", port] + arguments).summary()
  }
}

@Suite(.turns, .enabled(if: PythonPeer.python != nil, "python3 is not on the PATH"))
struct PythonPeerTests {
  private func text(_ score: Any?) throws -> String {
    try #require(score as? [Int]).map(String.init).joined(separator: "-")
  }

  @Test(arguments: [["tcp"], ["udp"], ["both"], ["udp", "--loss", "0.1"]])
  func `a client written from the WireFormat page plays and reports the same as the host`(
    transport: [String]
  ) async throws {
    let hostProcess = try await HostProcess(
      name: "Wire format", ["--seconds", "30", "--security", "none"])
    let peer = try await hostProcess.play(
      ["--seconds", "2", "--name", "Ünïcödé", "--transport"] + transport)
    let host = try await hostProcess.game.process.summary()
    #expect(peer["violations"] as? [String] == [])
    #expect(peer["peer"] as? String == "Wire format")
    #expect(peer["endReason"] as? String == "finished")
    #expect((peer["hashes"] as? Int ?? 0) > 0)
    #expect(peer["pauses"] as? Int == 1)
    #expect(peer["roundTripMs"] is Double)
    #expect((peer["links"] as? [String])?.contains(transport[0] == "tcp" ? "tcp" : "udp") == true)
    #expect(host["endReason"] as? String == "finished")
    #expect(host["peer"] as? String == "Ünïcödé")
    #expect(host["score"] as? String == (try text(peer["score"])))
  }

  @Test(arguments: [["tcp"], ["udp"], ["both"], ["udp", "--loss", "0.1"]])
  func `a host written from the WireFormat page plays and reports the same as the client`(
    transport: [String]
  ) async throws {
    let host = try PythonPeer.start(
      ["127.0.0.1", "0", "--serve", "--seconds", "2", "--name", "Page", "--transport"] + transport)
    let line = await host.output.line { $0.hasPrefix("port ") }
    let port = try #require(line?.split(separator: " ").last)
    let option = transport[0] == "both" ? "auto" : transport[0]
    let game = try RunningGame([
      "join", "127.0.0.1:\(port)", "--bot", "--json", "--name", "Ünïcödé", "--transport", option,
      "--security", "none",
    ])
    let (client, summary) = (try await game.process.summary(), try await host.summary())
    #expect(summary["violations"] as? [String] == [])
    #expect(summary["peer"] as? String == "Ünïcödé")
    #expect(summary["endReason"] as? String == "finished")
    #expect((summary["inputs"] as? Int ?? 0) > 0)
    #expect(
      (summary["links"] as? [String])?.contains(transport[0] == "tcp" ? "tcp" : "udp") == true)
    #expect(client["endReason"] as? String == "finished")
    #expect(client["peer"] as? String == "Page")
    #expect(client["desyncs"] as? Int == 0)
    #expect(client["score"] as? String == (try text(summary["score"])))
  }

  @Test func `a client written from the page plays home against another client of the host`()
    async throws
  {
    let host = try await HostProcess(name: "Table", clients: 2, ["--security", "none"])
    let peer = try PythonPeer.start([
      "127.0.0.1", host.port, "--seconds", "4", "--name", "Page", "--transport", "udp",
    ])
    try await host.game.line("Page sits down")
    let client = try RunningGame.join(host.port, "--security", "none", "--transport", "tcp")
    try await client.line("you play against Page")
    let summary = try await peer.summary()
    #expect(summary["violations"] as? [String] == [])
    #expect(summary["seat"] as? Int == 0)
    #expect(summary["names"] as? [String] == ["Page", "Leo"])
    #expect(summary["endReason"] as? String == "finished")
    #expect((summary["hashes"] as? Int ?? 0) > 0)
    try await host.game.line("Page has left: finished")
    client.process.signal(SIGTERM)
    let report = try await client.report()
    #expect(report.desyncs == 0 && report.peer == "Page")
    host.game.process.signal(SIGTERM)
    #expect(try await host.game.report().role == "table")
  }

  @Test(
    arguments: ["tcp", "udp", "both"],
    [["anyone"], ["code", "--code", "K7QM-2XRT"]])
  func `an encrypted match is played with a peer written from the page, in both roles`(
    transport: String, security: [String]
  ) async throws {
    let common = ["--seconds", "1", "--transport", transport, "--security"] + security
    let hostProcess = try await HostProcess(
      name: "Wire format", ["--seconds", "30", "--security"] + security)
    let client = try await hostProcess.play(common)
    let report = try await hostProcess.game.report()
    #expect(client["violations"] as? [String] == [])
    #expect(client["endReason"] as? String == "finished" && report.endReason == "finished")
    #expect(report.security == security[0] && report.cipher == "ChaChaPoly")

    let host = try PythonPeer.start(["127.0.0.1", "0", "--serve"] + common)
    let line = await host.output.line { $0.hasPrefix("port ") }
    let port = try #require(line?.split(separator: " ").last)
    let game = try RunningGame(
      ["join", "127.0.0.1:\(port)", "--bot", "--json", "--security"] + security)
    let (own, other) = (try await game.report(), try await host.summary())
    #expect(other["violations"] as? [String] == [])
    #expect(own.endReason == "finished" && other["endReason"] as? String == "finished")
    #expect(own.fingerprint != nil && own.desyncs == 0)
  }

  @Test(arguments: [["tcp"], ["udp"], ["both"], ["udp", "--loss", "0.1"]])
  func `a match is played by connect token with a peer written from the page, in both roles`(
    transport: [String]
  ) async throws {
    let backend = try await TokenBackend()
    defer { backend.end() }
    let common = ["--seconds", "1", "--security", "token", "--transport"] + transport
    let hostProcess = try await HostProcess(
      name: "Wire format", ["--seconds", "30", "--key", backend.keyFile])
    let token = try await backend.makeToken(for: "127.0.0.1:\(hostProcess.port)")
    let client = try await hostProcess.play(common + ["--token", token])
    let report = try await hostProcess.game.report()
    #expect(client["violations"] as? [String] == [])
    #expect(client["endReason"] as? String == "finished" && report.endReason == "finished")
    #expect(report.security == "token" && report.cipher == "ChaChaPoly")

    let host = try PythonPeer.start(
      ["127.0.0.1", "0", "--serve", "--key", backend.keyFile] + common)
    let line = await host.output.line { $0.hasPrefix("port ") }
    let port = try #require(line?.split(separator: " ").last)
    let other = try await backend.makeToken(for: "127.0.0.1:\(port)")
    let game = try RunningGame(
      ["join", "127.0.0.1:\(port)", "--bot", "--json", "--token", other])
    let (own, summary) = (try await game.report(), try await host.summary())
    #expect(summary["violations"] as? [String] == [])
    #expect(own.endReason == "finished" && summary["endReason"] as? String == "finished")
    #expect(own.security == "token" && own.desyncs == 0)
  }

  @Test func `a peer written from the page comes through a proxy by the bytes in its token`()
    async throws
  {
    try await withNetworkLoop { loop in
      let backend = try await TokenBackend()
      defer { backend.end() }
      for position in [DatagramRouting.Position.prefix, .suffix] {
        let proxy = RoutingProxy(position, on: loop)
        let front = try await proxy.open()
        let game = try await HostProcess(
          name: "Wire format", ["--seconds", "30", "--key", backend.keyFile])
        let server = Endpoint(.loopback4, port: try #require(UInt16(game.port)))
        await proxy.add([1, 2, 3], to: server)
        let option = position == .prefix ? "--routing-prefix" : "--routing-suffix"
        let token = try await backend.makeToken(
          for: front.description, server.description, with: [option, "010203"])
        let client = try await PythonPeer.start(
          ["127.0.0.1", "\(front.port)", "--seconds", "1", "--security", "token"]
            + ["--transport", "udp", "--token", token]
        ).summary()
        #expect(client["violations"] as? [String] == [])
        #expect(client["endReason"] as? String == "finished")
        #expect(await proxy.ports == 1)
        await game.game.process.end()
        await proxy.close()
      }
    }
  }

  @Test(arguments: ["tcp", "udp"])
  func `keys change in a match with a peer written from the page, in both roles`(
    transport: String
  ) async throws {
    let common = ["--seconds", "2", "--transport", transport, "--security", "anyone"]
    let lifetime = ["--lifetime", "20"]
    let hostProcess = try await HostProcess(
      name: "Keys", ["--seconds", "30", "--security", "anyone"])
    let client = try await hostProcess.play(common + lifetime)
    let report = try await hostProcess.game.report()
    #expect(client["violations"] as? [String] == [])
    #expect((client["keyChanges"] as? Int ?? 0) > 2)
    #expect(client["endReason"] as? String == "finished" && report.endReason == "finished")

    let host = try PythonPeer.start(["127.0.0.1", "0", "--serve"] + common + lifetime)
    let line = await host.output.line { $0.hasPrefix("port ") }
    let port = try #require(line?.split(separator: " ").last)
    let game = try RunningGame(
      ["join", "127.0.0.1:\(port)", "--bot", "--json", "--security", "anyone"])
    let (own, other) = (try await game.report(), try await host.summary())
    #expect(other["violations"] as? [String] == [])
    #expect((other["keyChanges"] as? Int ?? 0) > 2)
    #expect(own.endReason == "finished" && own.desyncs == 0)
  }

  @Test func `a client that does not run while a match ends learns that it is finished`()
    async throws
  {
    let host = try PythonPeer.start(
      ["127.0.0.1", "0", "--serve", "--seconds", "1", "--transport", "udp"])
    let line = await host.output.line { $0.hasPrefix("port ") }
    let port = try #require(line?.split(separator: " ").last)
    let game = try RunningGame([
      "join", "127.0.0.1:\(port)", "--bot", "--json", "--security", "none",
    ])
    try await game.line("game 1 begins")
    game.process.signal(SIGSTOP)
    #expect(try await host.summary()["endReason"] as? String == "finished")
    game.process.resume()
    #expect(try await game.process.summary()["endReason"] as? String == "finished")
  }

  @Test func `a host survives clients that send garbage and plays with the next one`()
    async throws
  {
    let hostProcess = try await HostProcess(
      name: "Hostile clients", ["--security", "none"])
    let garbage = [
      "ffffffffffffffff",  // a frame longer than the limit
      "0300000000000000020001",  // a body too short for a packet
      "0c00000000000000010005000000000000000000",  // half a pong
      "090000000000000003000000a200000561",  // half a message
      "080000000000000003000000a9000000",  // a channel that the game does not use
      "0c00000000000000030000009000000400080100",  // inputs with a flags byte of 0
      "place",  // an input with the mallet outside the rink
    ]
    for (index, bytes) in garbage.enumerated() {
      let peer = try await hostProcess.play(["--garbage", bytes])
      #expect(peer["endReason"] as? String == "protocolViolation")
      try await hostProcess.game.line("protocolViolation", index + 1)
    }
    let peer = try await hostProcess.play(["--seconds", "0.2"])
    #expect(peer["violations"] as? [String] == [])
    #expect(peer["endReason"] as? String == "finished")
    try await hostProcess.game.line("match ended: finished")
    await hostProcess.game.process.end()
  }
}
