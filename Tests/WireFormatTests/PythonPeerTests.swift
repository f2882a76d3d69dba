import Foundation
import Testing

private let environment = ProcessInfo.processInfo.environment

/// Where Python 3 is; `nil` skips what needs it.
private let python = environment["PATH", default: ""].split(separator: ":")
  .map { URL(filePath: String($0)).appending(path: "python3") }
  .first { FileManager.default.isExecutableFile(atPath: $0.path) }

/// A table of the game in a process of its own, on loopback.
private struct Table {
  let process: ChildProcess
  let port: String

  init(name: String, _ arguments: [String] = []) async throws {
    let tests = try #require(CommandLine.arguments.first)
    let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "air-hockey")
    let fixed = ["host", "--bot", "--interface", "lo", "--unlisted", "--json", "--name", name]
    process = try ChildProcess(program, fixed + arguments)
    let line = try await process.line(containing: "port ")
    port = try #require(line.split(separator: " ").last.map(String.init))
  }

  /// Runs the peer that was written from the page to its end.
  func play(_ arguments: [String]) async throws -> [String: Any] {
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "peer/air_hockey_peer.py")
    let peer = try ChildProcess(
      try #require(python), [script.path, "127.0.0.1", port] + arguments)
    return try await peer.summary()
  }
}

@Suite(
  .enabled(if: python != nil, "python3 is not on the PATH"), .timeLimit(.minutes(1)))
struct PythonPeerTests {
  @Test func `a peer written from the page alone plays, and both sides tell the same`() async throws
  {
    let table = try await Table(name: "Wire format", ["--seconds", "30"])
    let peer = try await table.play(["--seconds", "3", "--name", "Ünïcödé"])
    let host = try await table.process.summary()
    #expect(peer["violations"] as? [String] == [])
    #expect(peer["peer"] as? String == "Wire format")
    #expect(peer["endReason"] as? String == "finished")
    #expect((peer["states"] as? Int ?? 0) > 0)
    #expect(peer["pauses"] as? Int == 1)
    #expect(peer["roundTripMs"] is Double)
    #expect(host["endReason"] as? String == "finished")
    #expect(host["peer"] as? String == "Ünïcödé")
    let score = try #require(peer["score"] as? [Int])
    #expect(host["score"] as? String == score.map(String.init).joined(separator: "-"))
  }

  @Test func `a host outlives peers that send garbage, and plays with the next`() async throws {
    let table = try await Table(name: "Hostile guests")
    let garbage = [
      "ffffffffffffffff",  // a frame without end
      "0300000000000000020001",  // a body too short for a packet
      "0c00000000000000010005000000000000000000",  // half a pong
      "05000000000000000200090000",  // a channel that nobody has
      "18000000000000000200010001000000000000000000000000000000ff7f0000",  // a place off the table
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
