import CaromCore
import Foundation
import Testing

@testable import carom_tool

/// Options of the commands that browse and publish.
@Suite(.turns) struct ToolServiceTests {
  private let type = RunningTool.makeType()

  @Test func `services of all types are browsed`() async throws {
    let other = RunningTool.makeType()
    let browser = try RunningTool.start("browse", "--all", "--resolve")
    let first = try RunningTool.start("publish", "X", type, "1000")
    let second = try RunningTool.start("publish", "Y", other, "1001")
    #expect(try await browser.line("added", with: type).name == "X")
    #expect(try await browser.line("resolved", with: other).endpoints == ["127.0.0.1:1001"])
    #expect(await first.end() == 0)
    #expect(try await browser.line("removed", with: type).name == "X")
    #expect(await second.end() == 0)
    #expect(await browser.end() == 0)
  }

  @Test func `the TXT record is updated from standard input`() async throws {
    let browser = try RunningTool.start("browse", type)
    let publisher = try RunningTool.start("publish", "X", type, "1000", "a=1", "open", "--txt")
    #expect(try await publisher.line("published").txt == ["a": "1", "open": String?.none])
    try await browser.line("added")
    try publisher.process.write("a=2\n-open\n=3\nb=x y\n")
    try await publisher.line("updated", with: #""txt":{"a":"2","b":"x y"}"#)
    #expect(try await browser.line("updated", with: "x y").txt == ["a": "2", "b": "x y"])
    #expect(await publisher.end() == 0)
    #expect(await publisher.process.errors.all().contains { $0.contains("'=3' is not applied") })
    #expect(await browser.end() == 0)
  }

  @Test func `lines for people have the host, and plus signs for what is new`() async throws {
    let publisher = try RunningTool(["publish", "X", type, "1000", "--interface", "lo"])
    #expect(await publisher.process.output.line { $0 == "+  X  \(type)  1000  lo" } != nil)
    let resolver = try RunningTool(["resolve", "x", "\(type).local", "--interface", "lo"])
    let line = try #require(await resolver.process.output.line { _ in true })
    #expect(line.hasPrefix("+  X  lo  127.0.0.1:1000  ") && line.hasSuffix(".local"))
    #expect(await publisher.end() == 0)
  }

  @Test func `both programs and the README show the version, which has a section in the changelog`()
    async throws
  {
    let tool = try RunningTool(["--version"])
    #expect(await tool.process.output.all() == ["carom \(ProjectVersion.text)"])
    #expect(await tool.process.status == 0)
    let game = try RunningGame(["--version"])
    #expect(await game.process.output.all() == ["air-hockey \(ProjectVersion.text)"])
    #expect(await game.process.status == 0)
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    #expect(readme.contains("Version \(ProjectVersion.text) is built and tested on Linux x86-64"))
    let changelog = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
    #expect(changelog.contains("\n## \(ProjectVersion.text)"))
  }

  @Test func `a type may name a subtype and a domain`() throws {
    let cases: [(String, subtype: String?, domain: String?)] = [
      ("_http._tcp", nil, nil), ("_http._tcp.", nil, nil), ("_HTTP._TCP.local.", nil, "local"),
      ("_http._tcp,_printer", "_printer", nil), ("_p._sub._http._tcp", "_p", nil),
      ("_p._sub._http._tcp.example.com", "_p", "example.com"),
    ]
    for (text, subtype, domain) in cases {
      let parsed = try TypeArgument(text)
      #expect(parsed.type == "_http._tcp" && parsed.subtype == subtype, "\(text)")
      #expect(parsed.domain?.description == domain, "\(text)")
    }
  }

  /// Loading Foundation and its tables for text costs more than the rest of the tool.
  @Test func `an idle browser loads neither Foundation nor ICU`() async throws {
    let browser = try RunningTool.start("browse", type)
    let publisher = try RunningTool.start("publish", "X", type, "1000")
    try await browser.line("added")
    let process = "/proc/\(browser.process.inner)"
    let maps = try String(contentsOfFile: "\(process)/maps", encoding: .utf8)
    #expect(maps.contains("/carom"))
    for library in [
      "libFoundation.so", "libFoundationInternationalization.so", "lib_FoundationICU",
    ] {
      #expect(!maps.contains(library))
    }
    let status = try String(contentsOfFile: "\(process)/status", encoding: .utf8)
    let anonymous = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
    #expect(try #require(Int(anonymous.filter(\.isNumber))) < 4096, "\(anonymous)")
    #expect(await publisher.end() == 0)
    #expect(await browser.end() == 0)
  }
}
