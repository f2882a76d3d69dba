import CaromCodec
import CaromCore
import CaromProtocol
import Testing

@testable import air_hockey

/// Every error is printed as one line and has its own exit status.
@Suite(.turns) struct CommandLineTests {
  private func expect(
    _ status: CommandFailure.Status, _ line: String = "air-hockey: ", of arguments: [String],
    on host: String? = nil,
    in lab: Lab? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let game = try RunningGame(arguments, on: host, of: lab)
    let ended = await game.process.status
    let (output, errors) = (await game.process.output.all(), await game.process.errors.all())
    #expect(ended == status.rawValue, sourceLocation: sourceLocation)
    #expect(output.isEmpty, sourceLocation: sourceLocation)
    #expect(errors.count == 1, "\(errors)", sourceLocation: sourceLocation)
    #expect(errors.first?.hasPrefix("air-hockey: ") == true, sourceLocation: sourceLocation)
    #expect(errors.first?.contains(line) == true, "\(errors)", sourceLocation: sourceLocation)
  }

  private static let headless = ["--bot", "--headless"]
  /// Commands that use the network, on loopback in case an error is not found.
  private static let network = [
    ["auto", "--interface", "lo"], ["host", "--interface", "lo"], ["join", "127.0.0.1:1"],
  ]

  @Test(arguments: ["auto", "host"]) func `a port in use is an error`(command: String) async throws
  {
    try await FakeServer.run { port in
      try await expect(
        .portTaken, "port \(port) is in use",
        of: [command, "--interface", "lo", "--port", "\(port)"] + Self.headless)
    }
  }

  @Test(arguments: [["auto"], ["host"], ["join", "Maya's table"]])
  func `a missing interface is an error`(command: [String]) async throws {
    try await expect(
      .noSuchInterface, "nowhere0", of: command + ["--interface", "nowhere0"] + Self.headless)
  }

  @Test(arguments: network + [["solo"], ["local"]])
  func `playing without a terminal is an error`(command: [String]) async throws {
    try await expect(.notATerminal, "not a terminal", of: command)
  }

  @Test(arguments: network + [["play"]])
  func `a name of more than 63 bytes and an invalid time are errors`(command: [String]) async throws
  {
    let long = String(repeating: "é", count: 32)
    try await expect(.badName, "64 bytes", of: command + ["--name", long] + Self.headless)
    for seconds in ["0", "-1", "soon", ""] {
      try await expect(
        .usage, "--seconds", of: command + ["--seconds=\(seconds)"] + Self.headless)
    }
    try await expect(
      .usage, "--seconds must be", of: command + ["--seconds", "-1"] + Self.headless)
    try await expect(.badName, "the name is empty", of: command + ["--name", ""] + Self.headless)
  }

  @Test func `preferences that cannot be read or written are an error of their file`() async throws
  {
    let command = ["solo", "--preferences", "/dev/null/nowhere.json"] + Self.headless
    try await expect(.ioFailed, "does not exist", of: command)
    try await expect(.ioFailed, "cannot be written", of: command + ["--save"])
    try await expect(
      .ioFailed, "or is empty", of: ["solo", "--preferences", "/dev/null"] + Self.headless)
  }

  @Test func `a host that cannot be reached is an error`() async throws {
    try await expect(
      .unreachable, "check the port", of: ["join", "127.0.0.1:1"] + Self.headless)
  }

  @Test(arguments: ["127.0.0.1:99999", "127.0.0.1:0", "[::1]:65536", "localhost:70000"])
  func `an address with a number that is no port is an error`(address: String) async throws {
    for command in ["join", "watch"] {
      try await expect(.usage, "1 to 65535", of: [command, address] + Self.headless)
    }
  }

  @Test(arguments: [
    ("127.0.0.1:", "127.0.0.1"), ("[::1]:", "[::1]"), ("127.0.0.1", "127.0.0.1"),
    ("::1", "[::1]"), ("[::1", "[::1]"), ("[::1]", "[::1]"), ("fe80::1:99999", "[fe80::1]"),
  ])
  func `an address whose port is missing is an error`(address: String, place: String)
    async throws
  {
    try await expect(
      .usage, "is missing: use \(place):PORT", of: ["join", address] + Self.headless)
  }

  @Test func `an unknown profile of conditions is an error that lists all`() async throws {
    try await expect(
      .usage, "the following: lan, wifi, good, average, mobile, ",
      of: ["join", "127.0.0.1:1", "--conditions", "bogus"] + Self.headless)
  }

  @Test(arguments: [["host", "--unlisted", "--interface", "lo"], ["join", "127.0.0.1:1"]])
  func `a list of known players that does not exist is an error`(command: [String]) async throws {
    try await expect(
      .ioFailed, "--known: /dev/null/nowhere does not exist",
      of: command + ["--known", "/dev/null/nowhere"] + Self.headless)
  }

  @Test func `an invalid command line names the command's own help`() async throws {
    try await expect(
      .usage, "(see air-hockey solo --help)", of: ["solo", "--seconds", "0"])
    try await expect(.usage, "(see air-hockey --help)", of: ["chess"])
  }

  @Test func `a table that does not exist is an error`() async throws {
    try await expect(
      .unavailable, "no table 'Nobody at all'",
      of: ["join", "Nobody at all", "--interface", "lo"] + Self.headless)
  }

  @Test func `a host of another version is an error`() async throws {
    let other = SessionWire.version + 1
    let info = PeerInfo(id: PeerID(high: 1, low: 2), name: "Maya", application: "airhockey")
    let goodbye = ControlPacket.goodbye(Goodbye(.versionMismatch, version: other))
    for packet in [goodbye, .grant(version: other, info)] {
      for security in ["none", "anyone"] {
        try await FakeServer.run(answering: packet.packet.framed()) { port in
          try await expect(
            .wrongVersion, "version \(other)",
            of: ["join", "127.0.0.1:\(port)", "--security", security] + Self.headless)
        }
      }
    }
  }

  @Test func `a table without a place for a spectator says so, and not that its seats are taken`()
    async throws
  {
    let goodbye = ControlPacket.goodbye(Goodbye(.full))
    for (command, line) in [("watch", "takes no spectators"), ("join", "every seat")] {
      try await FakeServer.run(answering: goodbye.packet.framed()) { port in
        try await expect(
          .unavailable, line, of: [command, "127.0.0.1:\(port)"] + Self.headless)
      }
    }
  }

  @Test func `a host that uses another protocol is an error`() async throws {
    let answer = Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8)
    try await FakeServer.run(answering: answer) { port in
      try await expect(
        .wrongVersion, "does not speak Carom",
        of: ["join", "127.0.0.1:\(port)"] + Self.headless)
    }
  }

  @Test func `control characters in a host's reason are not printed`() async throws {
    let goodbye = ControlPacket.goodbye(Goodbye(.declined, text: "no\u{1B}[2J\ngoal\u{202E}"))
    try await FakeServer.run(answering: goodbye.packet.framed()) { port in
      try await expect(
        .unavailable, "declined: no[2Jgoal", of: ["join", "127.0.0.1:\(port)"] + Self.headless)
    }
  }

  @Test(.enabled(if: Lab.isPossible, Lab.need))
  func `a missing route and a missing multicast interface are errors`() async throws {
    try await Lab.run(hosts: 1) { lab in
      try await expect(
        .unreachable, "no route to the host", of: ["join", "192.0.2.1:7777"] + Self.headless,
        on: "h1", in: lab)
      try await lab.run("ip", "link", "set", "eth0", "down", on: "h1")
      for command in [["auto"], ["host"], ["join", "Maya"]] {
        try await expect(.noMulticast, of: command + Self.headless, on: "h1", in: lab)
      }
    }
  }
}
