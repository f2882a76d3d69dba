import CaromDiscovery
import CaromTransport
import Foundation
import enum TerminalText.ExitStatus
import Testing

@testable import air_hockey
@testable import carom_tool

/// Each error is printed in one line and has an exit status of its own.
@Suite(.turns) struct ToolErrorTests {
  private func expect(
    _ status: ExitStatus, _ line: String, of arguments: [String],
    on host: String? = nil, in lab: Lab? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let tool = try RunningTool(arguments, on: host, of: lab)
    let ended = await tool.process.status
    let (output, errors) = (
      await tool.process.output.all(), await tool.process.errors.all()
    )
    #expect(ended == status.rawValue, sourceLocation: sourceLocation)
    #expect(output.isEmpty, sourceLocation: sourceLocation)
    #expect(errors.count == 1, "\(errors)", sourceLocation: sourceLocation)
    #expect(errors.first?.hasPrefix("carom: ") == true, sourceLocation: sourceLocation)
    #expect(errors.first?.contains(line) == true, "\(errors)", sourceLocation: sourceLocation)
  }

  private static let commands = [
    ["browse", "_x._tcp"], ["publish", "X", "_x._tcp", "1"], ["resolve", "X", "_x._tcp"],
    ["query", "x.local", "A"],
  ]

  @Test(arguments: commands) func `a missing interface is an error`(command: [String]) async throws
  {
    try await expect(
      .noSuchInterface, "'nowhere0'", of: command + ["--interface", "nowhere0"])
  }

  @Test(arguments: [
    (["publish", String(repeating: "é", count: 32), "_x._tcp", "1"], "has 64"),
    (["resolve", "", "_x._tcp"], "needs a name"),
    (["publish", "a\u{1B}", "_x._tcp", "1"], "control"),
    (["publish", "X", "_x._tcp", "1", "=v"], "TXT key"),
    (["publish", "X", "_x._tcp", "1", "k=" + String(repeating: "v", count: 254)], "256"),
    (["browse", "x._tcp"], "underscore"), (["browse", "_x._sctp"], "._tcp or ._udp"),
    (["browse", "_much-too-long-name._tcp"], "15 characters"),
    (["resolve", "X", "nonsense"], "two labels"),
    (["resolve", String(repeating: "x", count: 64), "_x._tcp"], "has 64"),
    (["query", "a..local", "A"], "not a valid name"), (["query", ""], "name is empty"),
    (["query", ".", "NS"], "name is empty"), (["host", ""], "name is empty"),
    (["reconfirm", "", "_x._tcp"], "needs a name"),
    (["publish", "X", "_x._tcp.example.com", "1"], "link"),
    (["browse", "_a._sub._x._tcp,_b"], "not a service type"),
    (["query", "x.local", "NONSENSE"], "record type"),
    (["chat", ""], "name is empty"), (["peers", " \t"], "name is empty"),
    (["peers", String(repeating: "é", count: 32)], "64 bytes"),
    (["receive", "--yes", "--name", " "], "name is empty"),
  ])
  func `an invalid name or type is an error`(command: [String], line: String) async throws {
    try await expect(.badName, line, of: command + ["--interface", "lo"])
  }

  @Test(arguments: [
    (["publish", "X", "_x._tcp", "0", "--interface", "lo"], "port"),
    (["publish", "X", "_x._tcp", "70000"], "use a whole number from 1 to 65535"),
    (["receive", "--yes", "--port", "99999"], "use a whole number from 0 to 65535"),
    (["publish", "X", "_x._tcp", "1", "a=1", "a=2", "--interface", "lo"], "twice"),
    (["browse", "_x._tcp", "--for", "0"], "(see carom browse --help)"), (["browse"], "type"),
    (["dance"], "(see carom --help)"),
    (["resolve", "X", "_x._tcp", "--timeout", "soon"], "timeout"),
    (["query", "example.com", "A", "--server", "nobody"], "--server"),
    (["query", "x.local", "A", "--for", "-1"], "positive number"),
    (["resolve", "X", "_x._tcp", "--timeout", "-3"], "positive number"),
    (["browse", "_x._tcp", "--interface", ""], "needs a name"),
    (["browse", "_x._tcp.local", "example.com"], "two domains"),
    (["browse", "--all", "--subtype", "_s"], "--subtype"),
    (["browse", "--all", "_x._tcp", "--interface", "lo"], "omit _x._tcp"),
    (["publish", "X", "_x._tcp", "-1"], "'-1' is invalid"),
  ])
  func `an invalid command line is an error`(command: [String], line: String) async throws {
    try await expect(.usage, line, of: command)
  }

  @Test(arguments: [
    ("browse", "| true", 0), ("publish X", "| true", 0), ("types", "| true", 0),
    ("browse", "> /dev/full", 74), ("publish X", "> /dev/full", 74),
  ])
  func `output without a reader is no error, and output that cannot be written is one`(
    command: String, sink: String, status: Int32
  ) async throws {
    let tool = try RunningTool.executable().path
    let type = RunningTool.makeType()
    let publisher = try RunningTool.start("publish", "Y", type, "1")
    try await publisher.line("published")
    let arguments = command == "types" ? "" : command == "browse" ? type : "\(type) 2"
    let line = "'\(tool)' \(command) \(arguments) --interface lo \(sink); exit ${PIPESTATUS[0]}"
    let shell = try RunningProcess(URL(filePath: "/bin/bash"), ["-c", line])
    #expect(await shell.status == status)
    let errors = await shell.errors.all()
    #expect(status == 0 ? errors.isEmpty : errors.first?.contains("cannot be written") == true)
    #expect(await publisher.end() == 0)
  }

  @Test func `an argument that is not UTF-8 is an error`() async throws {
    let tool = try RunningTool.executable().path
    let line = "'\(tool)' resolve $'caf\\xe9' _x._tcp --interface lo"
    let shell = try RunningProcess(URL(filePath: "/bin/bash"), ["-c", line])
    #expect(await shell.status == ExitStatus.usage.rawValue)
    #expect(await shell.errors.all() == ["carom: argument 2 is not UTF-8"])
  }

  @Test(arguments: [
    ["browse", "_x._tcp", "--domain", "example.com"],
    ["query", "example.com", "A", "--continuous"],
  ])
  func `a name server that does not answer causes a warning`(command: [String]) async throws {
    let tool = try RunningTool(command + ["--server", "127.0.0.1:9", "--interface", "lo"])
    #expect(await tool.process.errors.line { $0.contains("name server") } != nil)
    #expect(await tool.end() == 0)
  }

  @Test(arguments: ["0.1", "5"])
  func `a watch is an error if no name server has answered when its time is up`(seconds: String)
    async throws
  {
    let dead = ["--server", "127.0.0.1:9", "--interface", "lo", "--for", seconds]
    let browse = ["browse", "_x._tcp", "--domain", "example.com"]
    for command in [browse, ["query", "example.com", "A", "--continuous"]] {
      try await expect(.timedOut, "no name server answered", of: command + dead)
    }
  }

  @Test func `a missing answer is an error after the timeout`() async throws {
    let type = RunningTool.makeType()
    let short = ["--interface", "lo", "--timeout", "0.1"]
    try await expect(.timedOut, "'X'", of: ["resolve", "X", type] + short)
    try await expect(
      .timedOut, "no host answered", of: ["query", "x.\(type).local", "SRV"] + short)
    try await expect(
      .timedOut, "name server",
      of: ["query", "example.com", "A", "--server", "127.0.0.1:9", "--timeout", "0.1"])
  }

  @Test(.enabled(if: Lab.isPossible, Lab.need))
  func `a missing multicast interface and an occupied port are errors`() async throws {
    try await Lab.run(hosts: 2) { lab in
      try await lab.withTakenPort(on: "h1") {
        try await expect(
          .portTaken, "taken by python3 (", of: ["browse", "_x._tcp"], on: "h1", in: lab)
        try await lab.run("ip", "link", "set", "eth0", "down", on: "h2")
        for command in Self.commands {
          try await expect(.noMulticast, "no interface", of: command, on: "h2", in: lab)
        }
      }
    }
  }

  @Test func `errors of discovery have exit statuses`() {
    let statuses: [(DiscoveryError, ExitStatus)] = [
      (.permissionDenied, .notPermitted), (.noMulticastInterface, .noMulticast),
      (.noSuchInterface("x"), .noSuchInterface), (.nameTaken, .unavailable),
      (.hostNameContested, .unavailable), (.portMissing, .usage), (.timedOut, .timedOut),
      (.transport(.unreachable), .unreachable), (.keyRejected, .notPermitted),
      (.clocksDiffer(bySeconds: 301), .notPermitted), (.updateRefused, .notPermitted),
      (.notPrimaryServer, .unreachable), (.noRegistrationDomain, .unavailable),
    ]
    for (error, status) in statuses {
      #expect(carom_tool.CommandFailure(error).status == status)
    }
  }

  @Test func `each command that fails without its interface says so with the same status`() {
    let error = DiscoveryError.noSuchInterface("x")
    #expect(carom_tool.CommandFailure(error).status == .noSuchInterface)
    #expect(air_hockey.CommandFailure(error).status == .noSuchInterface)
    let inner = TransportError.noSuchInterface
    #expect(carom_tool.CommandFailure(inner).status == .noSuchInterface)
    #expect(air_hockey.CommandFailure(inner).status == .noSuchInterface)
  }

  @Test func `every exit status stands in the table of the page, and in the help of both programs`()
    async throws
  {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    let page = try String(
      contentsOf: root.appending(path: "Sources/Carom/Carom.docc/CommandLine.md"), encoding: .utf8)
    let tool = try RunningTool(["--help"])
    let game = try RunningGame(["--help"])
    let helps = await [tool.process.output.all(), game.process.output.all()]
    for status in ExitStatus.allCases {
      #expect(page.contains("| \(status.rawValue) |"))
      for help in helps { #expect(help.contains { $0.hasPrefix("  \(status.rawValue)\t") }) }
    }
  }
}
