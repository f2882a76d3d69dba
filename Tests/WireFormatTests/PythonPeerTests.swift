import Foundation
import Testing

/// An `air-hockey` host in a process of its own, on the loopback interface.
private struct HostProcess {
  let process: ChildProcess
  let port: String

  init(name: String, _ arguments: [String] = []) async throws {
    let fixed = ["host", "--bot", "--interface", "lo", "--unlisted", "--json", "--name", name]
    process = try ChildProcess(try makeProgram(), fixed + arguments)
    let line = try await process.line(containing: "port ")
    port = try #require(line.split(separator: " ").last.map(String.init))
  }

  /// Runs the Python client, which was written from the WireFormat page, until it exits, and
  /// returns its summary.
  func play(_ arguments: [String]) async throws -> [String: Any] {
    try await makePeer(["127.0.0.1", port] + arguments).summary()
  }
}

private func makePeer(_ arguments: [String]) throws -> ChildProcess {
  try .peer("air_hockey_peer.py", arguments)
}

private func makeProgram() throws -> URL {
  let tests = try #require(CommandLine.arguments.first)
  return URL(filePath: tests).deletingLastPathComponent().appending(path: "air-hockey")
}

@Suite(
  .enabled(if: ChildProcess.python != nil, "python3 is not on the PATH"), .timeLimit(.minutes(1)))
struct PythonPeerTests {
  private func text(_ score: Any?) throws -> String {
    try #require(score as? [Int]).map(String.init).joined(separator: "-")
  }

  @Test(arguments: [["tcp"], ["udp"], ["both"], ["udp", "--loss", "0.1"]])
  func `a client written from the WireFormat page plays and reports the same as the host`(
    transport: [String]
  ) async throws {
    let hostProcess = try await HostProcess(name: "Wire format", ["--seconds", "30"])
    let peer = try await hostProcess.play(
      ["--seconds", "2", "--name", "Ünïcödé", "--transport"] + transport)
    let host = try await hostProcess.process.summary()
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
    let host = try makePeer(
      ["127.0.0.1", "0", "--serve", "--seconds", "2", "--name", "Page", "--transport"] + transport)
    let line = try await host.line(containing: "port ")
    let port = try #require(line.split(separator: " ").last)
    let option = transport[0] == "both" ? "auto" : transport[0]
    let program = try ChildProcess(
      try makeProgram(),
      [
        "join", "127.0.0.1:\(port)", "--bot", "--json", "--name", "Ünïcödé", "--transport", option,
      ])
    let (client, summary) = (try await program.summary(), try await host.summary())
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

  @Test func `a host survives clients that send garbage and plays with the next one`()
    async throws
  {
    let hostProcess = try await HostProcess(name: "Hostile clients")
    let garbage = [
      "ffffffffffffffff",  // a frame longer than the limit
      "0300000000000000020001",  // a body too short for a packet
      "0c00000000000000010005000000000000000000",  // half a pong
      "090000000000000003000000a200000561",  // half a message
      "080000000000000003000000a9000000",  // a channel that the game does not use
      "0c00000000000000030000009000000400080100",  // inputs with a flags byte of 0
      "place",  // an input with the mallet outside the rink
    ]
    for bytes in garbage {
      let peer = try await hostProcess.play(["--garbage", bytes])
      #expect(peer["endReason"] as? String == "protocolViolation")
      _ = try await hostProcess.process.line(containing: "protocolViolation")
    }
    let peer = try await hostProcess.play(["--seconds", "0.2"])
    #expect(peer["violations"] as? [String] == [])
    #expect(peer["endReason"] as? String == "finished")
    _ = try await hostProcess.process.line(containing: "game ended: finished")
  }
}
