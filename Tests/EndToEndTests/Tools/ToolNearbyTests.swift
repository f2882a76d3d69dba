import Foundation
import Testing

/// The tool's commands that connect with peers, run against each other on loopback. Each test uses
/// a service type of its own.
@Suite(.turns) struct ToolNearbyTests {
  private let type = "_t\(UInt32.random(in: 0 ... .max))._udp"

  private func start(_ command: String, _ name: String, _ more: String...) throws -> RunningTool {
    try RunningTool(
      [command, name, "--type", type, "--interface", "lo", "--json"] + more)
  }

  @Test func `three who chat see each other's lines, and peers shows all of them`() async throws {
    let maya = try start("chat", "Maya")
    let leo = try start("chat", "Leo")
    let peers = try start("peers", "Ada")
    for (tool, own) in [(maya, "Maya"), (leo, "Leo"), (peers, "Ada")] {
      for name in ["Maya", "Leo", "Ada"] where name != own {
        try await tool.line("added", with: "\"name\":\"\(name)\"")
      }
    }
    try maya.process.write("hello \\ 🏒\n")
    let line = try await leo.line("line", with: "hello")
    #expect(line.name == "Maya")
    let row = try await peers.line("updated", with: "\"name\":\"Leo\"")
    #expect(row.name == "Leo")
    _ = try await peers.line("updated", with: "\"cipher\":\"")
    _ = try await peers.line("updated", with: "\"policy\":\"anyone\",\"handshake\":\"XX\"")
    _ = try await peers.line("updated", with: "\"fingerprint\":\"")
    #expect(await leo.end() == 0)
    #expect(try await maya.line("removed", with: "Leo").name == "Leo")
    #expect(await maya.end() == 0)
    #expect(await peers.end() == 0)
  }

  @Test(.enabled(if: Lab.isPossible, Lab.need))
  func `eight programs on a network are all connected with each other`() async throws {
    try await Lab.run(hosts: 8) { lab in
      let tools = try (1...8).map {
        try RunningTool(["peers", "p\($0)", "--type", type, "--json"], on: "h\($0)", of: lab)
      }
      for (index, tool) in tools.enumerated() {
        for name in (1...8).map({ "p\($0)" }) where name != "p\(index + 1)" {
          try await tool.line("added", with: "\"name\":\"\(name)\"")
        }
      }
      for tool in tools { #expect(await tool.end() == 0) }
      for (index, tool) in tools.enumerated() {
        let added = await tool.process.output.all().filter { $0.contains("added") }
        #expect(added.count == 7 && !added.contains { $0.contains("\"p\(index + 1)\"") })
      }
    }
  }

  @Test func `one picks with whom to chat`() async throws {
    let maya = try start("chat", "Maya")
    let leo = try start("chat", "Leo")
    let ada = try start("chat", "Ada", "--pick")
    for name in ["Maya", "Leo"] {
      try await ada.line("listed", with: "\"name\":\"\(name)\"")
    }
    let listed = try await ada.line("listed", with: "\"name\":\"Leo\"")
    #expect(listed.state == "visible")
    // Nobody has joined, and there is no ninth peer.
    try ada.process.write("\n9\n")
    for part in ["nobody has joined yet", "no peer '9'"] {
      #expect(await ada.process.errors.line { $0.contains(part) } != nil)
    }
    try ada.process.write("\(try #require(listed.number))\n")
    try await ada.line("listed", with: "\"state\":\"joined\"")
    #expect(try await leo.line("added", with: "\"name\":\"Ada\"").name == "Ada")
    try ada.process.write("\nhello\n")
    #expect(try await leo.line("line", with: "hello").name == "Ada")
    #expect(try await ada.line("added").name == "Leo")
    try leo.process.write("hi\n")
    #expect(try await ada.line("line", with: "hi").name == "Leo")
    #expect(await leo.end() == 0)
    #expect(try await ada.line("removed").name == "Leo")
    try ada.process.write("anybody?\n")
    #expect(await ada.process.errors.line { $0.contains("nobody is there any more") } != nil)
    #expect(await ada.end() == 0)
    #expect(await maya.end() == 0)
    #expect(await !maya.process.output.all().contains { $0.contains("Ada") })
  }

  @Test func `who gives up picking has chatted with nobody`() async throws {
    let leo = try start("chat", "Leo")
    let ada = try start("chat", "Ada", "--pick")
    try await ada.line("listed", with: "\"name\":\"Leo\"")
    try ada.process.write("q\n")
    #expect(await ada.process.status == 0)
    #expect(await leo.end() == 0)
    #expect(await !leo.process.output.all().contains { $0.contains("Ada") })
  }

  @Test func `those with different codes do not meet`() async throws {
    let maya = try start("chat", "Maya", "--code", "K7QM-2XRT")
    let leo = try start("chat", "Leo", "--code", "K7QM-2XRT")
    let eve = try start("chat", "Eve", "--code", "AAAA-AAAA")
    #expect(try await leo.line("added").name == "Maya")
    #expect(await eve.end() == 0)
    #expect(await leo.end() == 0)
    #expect(await maya.end() == 0)
    #expect(await !eve.process.output.all().contains("added"))
  }

  @Test func `a wrong type or code is one line and a status`() async throws {
    let noType = try RunningTool(["chat", "Maya", "--type", "nothing", "--interface", "lo"])
    #expect(await noType.process.status == 65)
    let noCode = try RunningTool(["peers", "Maya", "--code", "?", "--interface", "lo"])
    #expect(await noCode.process.status == 64)
    let long = try RunningTool(["peers", String(repeating: "n", count: 64)])
    #expect(await long.process.status == 65)
  }
}
