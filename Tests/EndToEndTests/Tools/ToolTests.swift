import CaromDNS
import CaromTransport
import Foundation
import Testing

/// Runs the tool's commands against each other on loopback. Each test uses a service type of its
/// own.
@Suite(.turns) struct ToolTests {
  private let type = RunningTool.makeType()

  @Test(arguments: [SIGINT, SIGTERM])
  func `a published service is found, resolved, and removed by its goodbye`(
    signal: Int32
  ) async throws {
    let name = "Maya's match. \\ 🏒"
    let browser = try RunningTool.start("browse", type, "--resolve")
    let publisher = try RunningTool.start("publish", name, type, "7777", "seats=1/2", "open", "e=")
    let published = try await publisher.line("published")
    #expect(published.name == name && published.interfaces == ["lo"])
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

  @Test func `a service that returns on another port is resolved again`() async throws {
    let browser = try RunningTool.start("browse", type, "--resolve")
    let first = try RunningTool.start("publish", "X", type, "1111")
    let resolved = try await browser.line("resolved", with: "127.0.0.1:1111")
    #expect(resolved.name == "X")
    first.process.signal(SIGKILL)
    #expect(await first.process.status == 128 + SIGKILL)
    let second = try RunningTool.start("publish", "X", type, "2222")
    // Records younger than a second are not flushed (RFC 6762 §10.2), so both ports may be listed.
    #expect(try await browser.line("resolved", with: "[\"127.0.0.1:2222\"]").name == "X")
    #expect(await second.end() == 0)
    #expect(try await browser.line("removed").endpoints == ["127.0.0.1:2222"])
    #expect(await browser.end() == 0)
  }

  @Test func `a taken name is changed, or an error with --no-rename`() async throws {
    let first = try RunningTool.start("publish", "X", type, "1000")
    try await first.line("published")
    let second = try RunningTool.start("publish", "X", type, "1001")
    #expect(try await second.line("published").name == "X (2)")
    let third = try RunningTool.start("publish", "X", type, "1002", "--no-rename")
    #expect(await third.process.status == 69)
    #expect(await first.end() == 0)
    #expect(await second.end() == 0)
  }

  @Test func `the tool ends silently when its output loses its reader`() async throws {
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

  /// The memory that a process has mapped, in KiB: now, and at most so far.
  private func memory(of process: Int32) throws -> (now: Int, most: Int) {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    func value(_ key: String) throws -> Int {
      let line = status.split(separator: "\n").first { $0.hasPrefix(key) }
      return try #require(line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
    }
    return (try value("VmRSS:"), try value("VmHWM:"))
  }

  @Test(.timeLimit(.minutes(2)))
  func `a command that watches gives back the memory that only its start needed`() async throws {
    let browser = try RunningTool.start("browse", type)
    while true {
      let (now, most) = try memory(of: browser.process.inner)
      if now < most * 3 / 4 { break }
      try await Task.sleep(for: .milliseconds(100))
    }
    let publisher = try RunningTool.start("publish", "X", type, "1000")
    #expect(try await browser.line("added").name == "X")
    #expect(await publisher.end() == 0)
    #expect(await browser.end() == 0)
  }

  @Test func `the tool ends after the time of --for`() async throws {
    let browser = try RunningTool.start("browse", type, "--for", "0.05")
    #expect(await browser.process.status == 0)
    let publisher = try RunningTool.start("publish", "X", type, "1000", "--for", "0.05")
    #expect(await publisher.process.status == 0)
    #expect(try await RunningTool.start("types", "--for", "0.05").process.status == 0)
    // Without these options, the name servers of this machine would be queried.
    let domains = try RunningTool.start(
      "domains", "--for", "0.05", "--server", "127.0.0.1:9", "--search", "example.com")
    #expect(await domains.process.status == 0)
  }

  @Test func `types and subtypes are found, and a unique name is published at once`() async throws {
    let types = try RunningTool.start("types")
    let browser = try RunningTool.start("browse", type, "--subtype", "_ranked")
    let plain = try RunningTool.start("publish", "X", type, "1000", "--unique")
    let ranked = try RunningTool.start("publish", "Y", type, "1001", "--subtype", "_ranked")
    #expect(try await types.line("added", with: type).type == type)
    #expect(try await browser.line("added").name == "Y")
    #expect(try await plain.line("published").name == "X")
    #expect(await ranked.end() == 0)
    #expect(try await browser.line("removed").name == "Y")
    #expect(await plain.end() == 0)
    try await types.line("removed", with: type)
    #expect(await types.end() == 0)
    #expect(await browser.end() == 0)
  }

  @Test func `a continuous query reports added and removed records`() async throws {
    let query = try RunningTool.start("query", "X.\(type).local", "TXT", "--continuous")
    let publisher = try RunningTool.start("publish", "X", type, "1000", "a=b")
    #expect(try await query.line("added").data == #""a=b""#)
    #expect(await publisher.end() == 0)
    try await query.line("removed")
    #expect(await query.end() == 0)
  }

  @Test func `a domain outside the link is browsed, resolved and queried`() async throws {
    let instance = try Name(text: "X.\(type).example.com")
    let zone = [
      Record(try Name(text: "\(type).example.com"), .pointer(instance), timeToLive: 60),
      Record(
        instance, .service(priority: 0, weight: 0, port: 7, target: "h.example.com"),
        timeToLive: 60),
      Record("h.example.com", .address(.v4(0xC000_0201)), timeToLive: 60),
      Record("b._dns-sd._udp.example.com", .pointer("games.example.com"), timeToLive: 60),
    ]
    try await withNetworkLoop { loop in
      let names = UnicastNameServer(on: loop, zone: zone)
      let server = try await names.open().description
      let ask = ["--server", server, "--interface", "lo", "--json"]
      let inDomain = ["--domain", "example.com"] + ask
      let browser = try RunningTool(["browse", type, "example.com", "--resolve"] + ask)
      let found = try await browser.line("resolved")
      #expect(found.name == "X" && found.domain == "example.com" && found.interfaces == [])
      #expect(found.endpoints == ["192.0.2.1:7"] && found.host == "h.example.com")
      #expect(await browser.end() == 0)
      let resolver = try RunningTool(["resolve", "X", type] + inDomain)
      #expect(try await resolver.line("resolved").endpoints == ["192.0.2.1:7"])
      #expect(await resolver.process.status == 0)
      let qualified = try RunningTool(["resolve", "X", "\(type).example.com."] + ask)
      #expect(try await qualified.line("resolved").endpoints == ["192.0.2.1:7"])
      let query = try RunningTool(["query", "h.example.com", "A"] + ask)
      #expect(try await query.line("added").data == "192.0.2.1")
      #expect(await query.process.status == 0)
      let domains = try RunningTool(["domains", "--search", "example.com"] + ask)
      let domain = try await domains.line("added")
      #expect(domain.domain == "games.example.com" && domain.purpose == "browsing")
      #expect(await domains.end() == 0)
      let nobody = try RunningTool(["query", "nobody.example.com", "A"] + ask)
      #expect(await nobody.process.status == 69)
    }
  }
}
