import CaromCodec
import CaromCore
import CaromProtocol
import Testing

@testable import air_hockey

/// What cannot be done is said in one line, with a status of its own.
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

  private static let seatless = ["--bot", "--headless"]

  @Test(arguments: ["auto", "host"]) func `a taken port`(command: String) async throws {
    try await FakeServer.run { port in
      try await expect(
        .portTaken, "port \(port) is in use",
        of: [command, "--interface", "lo", "--port", "\(port)"] + Self.seatless)
    }
  }

  @Test(arguments: [["auto"], ["host"], ["join", "Maya's table"]])
  func `an interface that there is not`(command: [String]) async throws {
    try await expect(
      .noMulticast, "nowhere0", of: command + ["--interface", "nowhere0"] + Self.seatless)
  }

  @Test(arguments: [["auto"], ["host"], ["join", "127.0.0.1:1"], ["solo"], ["local"]])
  func `nobody to play and no terminal`(command: [String]) async throws {
    try await expect(.notATerminal, "not a terminal", of: command)
  }

  @Test(arguments: [["auto"], ["host"], ["join", "127.0.0.1:1"], ["play"]])
  func `a name over 63 bytes, and a time that is none`(command: [String]) async throws {
    let long = String(repeating: "é", count: 32)
    try await expect(.badName, "64 bytes", of: command + ["--name", long] + Self.seatless)
    for seconds in ["0", "-1", "soon", ""] {
      try await expect(
        .usage, "--seconds", of: command + ["--seconds=\(seconds)"] + Self.seatless)
    }
  }

  @Test func `a host that is not there`() async throws {
    try await expect(
      .hostUnreachable, "check the port", of: ["join", "127.0.0.1:1"] + Self.seatless)
  }

  @Test func `a table that nobody has`() async throws {
    try await expect(
      .unavailable, "no table 'Nobody at all'",
      of: ["join", "Nobody at all", "--interface", "lo"] + Self.seatless)
  }

  @Test func `a host of another version`() async throws {
    let other = SessionWire.version + 1
    let info = PeerInfo(id: PeerID(high: 1, low: 2), name: "Maya", application: "airhockey")
    let goodbye = ControlPacket.goodbye(Goodbye(.versionMismatch, version: other))
    for packet in [goodbye, .grant(version: other, info)] {
      try await FakeServer.run(answering: packet.packet.framed()) { port in
        try await expect(
          .wrongVersion, "version \(other)", of: ["join", "127.0.0.1:\(port)"] + Self.seatless)
      }
    }
  }

  @Test func `a host that speaks another protocol`() async throws {
    let answer = Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8)
    try await FakeServer.run(answering: answer) { port in
      try await expect(
        .wrongVersion, "does not speak Carom",
        of: ["join", "127.0.0.1:\(port)"] + Self.seatless)
    }
  }

  @Test func `what a host says does not reach the terminal as it is`() async throws {
    let goodbye = ControlPacket.goodbye(Goodbye(.declined, text: "no\u{1B}[2J\ngoal\u{202E}"))
    try await FakeServer.run(answering: goodbye.packet.framed()) { port in
      try await expect(
        .unavailable, "declined: no[2Jgoal", of: ["join", "127.0.0.1:\(port)"] + Self.seatless)
    }
  }

  @Test(.enabled(if: Lab.isPossible, Lab.need))
  func `no interface that does multicast, and no way to a host`() async throws {
    try await Lab.run(hosts: 1) { lab in
      try await expect(
        .hostUnreachable, "no route to the host", of: ["join", "192.0.2.1:7777"] + Self.seatless,
        on: "h1", in: lab)
      try await lab.run("ip", "link", "set", "eth0", "down", on: "h1")
      for command in [["auto"], ["host"], ["join", "Maya"]] {
        try await expect(.noMulticast, of: command + Self.seatless, on: "h1", in: lab)
      }
    }
  }
}
