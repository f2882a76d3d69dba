import CaromDNS
import CaromTransport
import Foundation
import Testing

/// Looks up hosts and records with the tool.
@Suite(.turns) struct ToolLookupTests {
  private let type = RunningTool.makeType()

  /// Publishes a service on loopback, runs `body` with the name of its host, and withdraws it.
  private func withService(
    _ body: (_ host: String) async throws -> Void
  ) async throws {
    let publisher = try RunningTool.start("publish", "X", type, "1000", "a=b")
    try await publisher.line("published")
    let resolver = try RunningTool.start("resolve", "X", type)
    try await body(try #require(try await resolver.line("resolved").host))
    #expect(await publisher.end() == 0)
  }

  /// Runs the tool to its end, and expects an exit status.
  @discardableResult
  private func run(
    _ arguments: String..., status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> RunningTool {
    let tool = try RunningTool(arguments + ["--interface", "lo", "--json"])
    #expect(await tool.process.status == status, sourceLocation: sourceLocation)
    return tool
  }

  @Test func `a query shows the real time to live and the sender`() async throws {
    try await withService { _ in
      // An answer that was multicast within the last second is repeated by unicast only, with a
      // time to live of at most 10 s.
      var ttl = 0
      while ttl <= 10 {
        let tool = try await run("query", "X.\(type).local", "SRV")
        let answer = try await tool.line("added")
        #expect(answer.data?.hasPrefix("0 0 1000 ") == true && answer.source == "127.0.0.1")
        #expect(answer.type == "SRV" && answer.section == "answer" && answer.interface == "lo")
        ttl = try #require(answer.ttl)
      }
      #expect(ttl == 120)
    }
  }

  @Test(.enabled(if: Lab.isPossible, Lab.need))
  func `R28: a one-shot query does not need port 5353, and is answered by unicast`() async throws {
    try await Lab.run(hosts: 2) { lab in
      try await lab.withTakenPort(on: "h1") {
        let publisher = try RunningTool(
          ["publish", "X", type, "1000", "--json"], on: "h2", of: lab)
        try await publisher.line("published")
        let query = try RunningTool(
          ["query", "X.\(type).local", "SRV", "--json"], on: "h1", of: lab)
        // The record's time to live is 120 s, reduced in legacy responses (RFC 6762 §6.7).
        #expect(try #require(try await query.line("added").ttl) <= 10)
        #expect(await query.process.status == 0)
        #expect(await publisher.end() == 0)
      }
    }
  }

  @Test func `a query without a type asks for what the name usually has`() async throws {
    try await withService { host in
      let addresses = try await run("query", host, "--timeout", "30")
      #expect(try await addresses.line("added").data == "127.0.0.1")
      let services = try await run("query", type, "--timeout", "0.5")
      #expect(try await services.line("added", with: "PTR").data == "X.\(type).local")
      #expect(await services.process.errors.all().contains { $0.contains("trying \(type).local") })
    }
  }

  @Test func `what a host denies is told at once`() async throws {
    try await withService { host in
      for (name, type) in [("X.\(type).local", "A"), (host, "AAAA")] {
        let tool = try await run("query", name, type, "--timeout", "30", status: 69)
        #expect(await tool.process.errors.all().contains { $0.contains("no such record") })
      }
    }
  }

  @Test func `a host is looked up by its name, with or without its domain`() async throws {
    try await withService { host in
      let found = try await run("host", host, "--timeout", "30").line("resolved")
      #expect(found.name == host && found.address == "127.0.0.1" && found.interface == "lo")
      let label = String(try #require(host.split(separator: ".").first))
      let tool = try await run("host", label)
      #expect(try await tool.line("resolved").address == "127.0.0.1")
      #expect(
        await tool.process.errors.all() == ["carom: '\(label)' has no domain: trying \(host)"])
    }
  }

  @Test func `a host is looked up by its address at a name server`() async throws {
    let zone = [
      Record("1.2.0.192.in-addr.arpa", .pointer("h.example.com"), timeToLive: 60),
      Record("7.8.9.10.in-addr.arpa", .pointer("inside.example.com"), timeToLive: 60),
      Record("h.example.com", .address(.v4(0xC000_0201)), timeToLive: 60),
    ]
    try await withNetworkLoop { loop in
      let names = UnicastNameServer(on: loop, zone: zone)
      let server = try await names.open().description
      let host = try await run("host", "192.0.2.1", "--server", server).line("resolved")
      #expect(host.name == "h.example.com" && host.address == "192.0.2.1")
      let address = try await run("host", "h.example.com", "--server", server).line("resolved")
      #expect(address.address == "192.0.2.1")
      // Hosts on the link are asked first for the name of a private address.
      let inside = try await run("host", "10.9.8.7", "--server", server).line("resolved")
      #expect(inside.name == "inside.example.com")
      let nobody = try await run("host", "192.0.2.9", "--server", server, status: 69)
      #expect(await nobody.process.output.all().isEmpty)
    }
  }

  @Test func `a service that is there is confirmed, and one that is gone is not`() async throws {
    let publisher = try RunningTool.start("publish", "X", type, "1000")
    try await publisher.line("published")
    let confirmed = try await run("reconfirm", "x", "\(type).local").line("confirmed")
    #expect(confirmed.name == "X" && confirmed.source == "127.0.0.1")
    publisher.process.signal(SIGKILL)
    #expect(await publisher.process.status == 128 + SIGKILL)
    let gone = try await run("reconfirm", "X", type, "--timeout", "0.5", status: 75)
    #expect(await gone.process.errors.all().contains { $0.contains("it is gone") })
  }
}
