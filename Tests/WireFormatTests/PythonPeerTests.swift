import Foundation
import Testing

/// A table of the game in a process of its own, on loopback.
private struct Table {
  let process: ChildProcess
  let port: String

  init(name: String, _ arguments: [String] = []) async throws {
    let fixed = ["host", "--bot", "--interface", "lo", "--unlisted", "--json", "--name", name]
    process = try ChildProcess(try makeProgram(), fixed + arguments)
    let line = try await process.line(containing: "port ")
    port = try #require(line.split(separator: " ").last.map(String.init))
  }

  /// Runs the peer that was written from the page to its end.
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
  func `a peer written from the page alone plays, and both sides tell the same`(
    transport: [String]
  ) async throws {
    let table = try await Table(name: "Wire format", ["--seconds", "30"])
    let peer = try await table.play(
      ["--seconds", "2", "--name", "Ünïcödé", "--transport"] + transport)
    let host = try await table.process.summary()
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
  func `a host written from the page alone is played with, and both sides tell the same`(
    transport: [String]
  ) async throws {
    let host = try makePeer(
      ["127.0.0.1", "0", "--serve", "--seconds", "2", "--name", "Page", "--transport"] + transport)
    let line = try await host.line(containing: "port ")
    let port = try #require(line.split(separator: " ").last)
    let way = transport[0] == "both" ? "auto" : transport[0]
    let guest = try ChildProcess(
      try makeProgram(),
      ["join", "127.0.0.1:\(port)", "--bot", "--json", "--name", "Ünïcödé", "--transport", way])
    let (told, heard) = (try await guest.summary(), try await host.summary())
    #expect(heard["violations"] as? [String] == [])
    #expect(heard["peer"] as? String == "Ünïcödé")
    #expect(heard["endReason"] as? String == "finished")
    #expect((heard["inputs"] as? Int ?? 0) > 0)
    #expect((heard["links"] as? [String])?.contains(transport[0] == "tcp" ? "tcp" : "udp") == true)
    #expect(told["endReason"] as? String == "finished")
    #expect(told["peer"] as? String == "Page")
    #expect(told["desyncs"] as? Int == 0)
    #expect(told["score"] as? String == (try text(heard["score"])))
  }

  @Test func `a host outlives peers that send garbage, and plays with the next`() async throws {
    let table = try await Table(name: "Hostile guests")
    let garbage = [
      "ffffffffffffffff",  // a frame without end
      "0300000000000000020001",  // a body too short for a packet
      "0c00000000000000010005000000000000000000",  // half a pong
      "090000000000000003000000a200000561",  // half a message
      "080000000000000003000000a9000000",  // a channel that nobody has
      "0c00000000000000030000009000000400080100",  // inputs with flags of which none is set
      "place",  // a mallet off the table
    ]
    for bytes in garbage {
      let peer = try await table.play(["--garbage", bytes])
      #expect(peer["endReason"] as? String == "protocolViolation")
      _ = try await table.process.line(containing: "protocolViolation")
    }
    let peer = try await table.play(["--seconds", "0.2"])
    #expect(peer["violations"] as? [String] == [])
    #expect(peer["endReason"] as? String == "finished")
    _ = try await table.process.line(containing: "game ended: finished")
  }
}
