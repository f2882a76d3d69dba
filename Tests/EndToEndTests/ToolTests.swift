import Foundation
import Testing

/// The tool's commands against each other on loopback; each test has a type of its own.
struct ToolTests {
  private let type = RunningTool.makeType()

  @Test(arguments: [SIGINT, SIGTERM])
  func `what one publishes another finds, resolves, and loses with a goodbye`(
    signal: Int32
  ) async throws {
    let name = "Maya's table. \\ 🏒"
    let browser = try RunningTool.start("browse", type, "--resolve")
    let publisher = try RunningTool.start("publish", name, type, "7777", "seats=1/2", "open", "e=")
    #expect(try await publisher.line("published").name == name)
    let added = try await browser.line("added")
    #expect(added.name == name && added.type == type && added.domain == "local")
    #expect(added.interfaces == ["lo"])
    let found = try await browser.line("resolved")
    #expect(found.endpoints == ["127.0.0.1:7777"])
    #expect(found.txt?["seats"] == "1/2" && found.txt?["e"] == "")
    #expect(found.txt?["open"] == .some(.none))
    let resolver = try RunningTool.start("resolve", name, type)
    #expect(await resolver.process.status == 0)
    let resolved = try await resolver.line("resolved")
    #expect(resolved.endpoints == ["127.0.0.1:7777"] && resolved.host == found.host)
    #expect(await publisher.end(signal) == 0)
    #expect(try await publisher.line("withdrawn").name == name)
    #expect(try await browser.line("removed").name == name)
    #expect(await browser.end(signal) == 0)
  }

  @Test func `a taken name is changed, or an error where it must not be`() async throws {
    let first = try RunningTool.start("publish", "X", type, "1000")
    try await first.line("published")
    let second = try RunningTool.start("publish", "X", type, "1001")
    #expect(try await second.line("published").name == "X (2)")
    let third = try RunningTool.start("publish", "X", type, "1002", "--no-rename")
    #expect(await third.process.status == 69)
    #expect(await first.end() == 0)
    #expect(await second.end() == 0)
  }

  @Test func `R28: one question finds out, and never from port 5353`() async throws {
    let publisher = try RunningTool.start("publish", "X", type, "1000", "a=b")
    try await publisher.line("published")
    let srv = try RunningTool.start("query", "X.\(type).local", "SRV")
    let answer = try await srv.line("added")
    #expect(answer.type == "SRV" && answer.section == "answer" && answer.interface == "lo")
    #expect(answer.data?.hasPrefix("0 0 1000 ") == true && answer.source == "127.0.0.1")
    // A full implementation would be told 120 s (RFC 6762 §6.7).
    #expect(try #require(answer.ttl) <= 10)
    #expect(await srv.process.status == 0)
    let ptr = try RunningTool.start("query", "\(type).local", "PTR", "--timeout", "0.5")
    #expect(try await ptr.line("added").data == "X.\(type).local")
    #expect(await ptr.process.status == 0)
    #expect(await publisher.end() == 0)
  }

  @Test func `a reader who leaves ends it without a word`() async throws {
    let tool = try RunningTool.executable().path
    let browse = "'\(tool)' browse \(type) --interface lo"
    let script = "\(browse) | head -n 1; exit ${PIPESTATUS[0]}"
    let reader = try RunningProcess(URL(filePath: "/bin/bash"), ["-c", script])
    let first = try RunningTool.start("publish", "X", type, "1000")
    #expect(await reader.output.line { $0.hasPrefix("+  X") } != nil)
    let second = try RunningTool.start("publish", "Y", type, "1001")
    #expect(await reader.status == 0)
    #expect(await reader.errors.all().isEmpty)
    #expect(await first.end() == 0)
    #expect(await second.end() == 0)
  }

  @Test func `it ends when its time is up`() async throws {
    let browser = try RunningTool.start("browse", type, "--for", "0.05")
    #expect(await browser.process.status == 0)
    let publisher = try RunningTool.start("publish", "X", type, "1000", "--for", "0.05")
    #expect(await publisher.process.status == 0)
  }
}
