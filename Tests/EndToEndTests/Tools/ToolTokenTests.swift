import CaromCore
import Foundation
import Testing

@testable import CaromCrypto

/// The tool's commands for connect tokens, and the backend on the page Security.
@Suite(.turns) struct ToolTokenTests {
  private struct Token: Decodable {
    var event: String
    var token: String?
    var hosts: [String]
    var made: Int64
    var expiry: Int64
    var player: String?
    var data: String?
  }

  private let folder: URL
  private var keyFile: String { folder.appending(path: "key").path }
  private let hosts = ["10.0.0.1:7777", "[2001:db8::1]:7777"]
  private let player = "000102030405060708090a0b0c0d0e0f"

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "carom-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Runs `carom token` to its end, and returns its output.
  private func run(
    _ arguments: [String], status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> [String] {
    let tool = try RunningTool(["token"] + arguments)
    #expect(await tool.process.status == status, sourceLocation: sourceLocation)
    let (output, errors) = (await tool.process.output.all(), await tool.process.errors.all())
    #expect(errors.count == (status == 0 ? 0 : 1), "\(errors)", sourceLocation: sourceLocation)
    #expect(status == 0 || output.isEmpty, sourceLocation: sourceLocation)
    return status == 0 ? output : errors
  }

  private func decode(_ lines: [String]) throws -> Token {
    #expect(lines.count == 1)
    return try JSONDecoder().decode(Token.self, from: Data((lines.first ?? "").utf8))
  }

  private func end() throws { try FileManager.default.removeItem(at: folder) }

  @Test func `a token is made with a new key, and shown`() async throws {
    #expect(try await run(["key", keyFile]).isEmpty)
    let mode = try FileManager.default.attributesOfItem(atPath: keyFile)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    let options = ["--key", keyFile, "--player", player, "--data", "team=2", "--for", "30"]
    let made = try await run(["make"] + hosts + options)
    let text = try #require(made.first)
    #expect(made.count == 1 && text.allSatisfy { $0.isLetter || $0.isNumber || "-_".contains($0) })
    let known = try decode(await run(["show", text, "--key", keyFile, "--json"]))
    #expect(known.event == "token" && known.hosts == hosts && known.token == nil)
    #expect(known.player == player && known.data == "team=2")
    #expect(known.expiry - known.made == 30_000)
    let routed = try await run(["make"] + hosts + options + ["--routing-suffix", "a1b2c3"])
    let routing = try ConnectToken(try #require(routed.first)).routing
    #expect(routing == (try .suffix([0xA1, 0xB2, 0xC3])))
    #expect(try await run(["show"] + routed).contains("routing  suffix of 3 bytes"))
    let unknown = try decode(await run(["show", text, "--json"]))
    #expect(unknown.hosts == hosts && unknown.player == nil && unknown.data == nil)
    let rows = try await run(["show", text, "--key", keyFile])
    #expect(rows.prefix(2) == ["host     10.0.0.1:7777", "host     [2001:db8::1]:7777"])
    #expect(rows[2].hasPrefix("made     ") && rows[3].hasPrefix("expires  in "))
    #expect(rows.suffix(2) == ["player   \(player)", "data     team=2"])
    try end()
  }

  @Test func `a token is read from standard input, and the output never shows its key`()
    async throws
  {
    _ = try await run(["key", keyFile])
    let made = try decode(await run(["make", hosts[0], "--key", keyFile, "--json"]))
    let text = try #require(made.token)
    #expect(made.player?.count == 32 && made.data == "" && made.expiry - made.made == 60_000)
    let tool = try RunningTool.executable().path
    let line = "echo \(text) | '\(tool)' token show --key '\(keyFile)'"
    let shell = try RunningProcess(URL(filePath: "/bin/bash"), ["-c", line])
    #expect(await shell.status == 0)
    let output = await shell.output.all().joined()
    #expect(output.contains(hosts[0]))
    let token = try ConnectToken(text)
    let key = String(decoding: Hexadecimal.digits(of: token.key.reveal()), as: UTF8.self)
    #expect(!output.contains(text.suffix(12)) && !output.contains(key))
    try end()
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `the first signal ends the wait for a token`(signal: Int32) async throws {
    let tool = try RunningTool(["token", "show"])
    while !catchesSignals(tool.process.inner) { try await Task.sleep(for: .milliseconds(5)) }
    #expect(await tool.end(signal) == 0)
    #expect(await tool.process.output.all().isEmpty)
    #expect(await tool.process.errors.all().isEmpty)
    try end()
  }

  /// Whether the process is the tool, and has begun to catch signals that request termination.
  private func catchesSignals(_ process: Int32) -> Bool {
    let path = "/proc/\(process)/status"
    let status = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let key = "SigCgt:\t"
    let line = status.split(separator: "\n").first { $0.hasPrefix(key) } ?? ""
    let caught = UInt64(line.dropFirst(key.count), radix: 16) ?? 0
    return status.hasPrefix("Name:\tcarom\n") && caught & 1 << UInt64(SIGTERM - 1) != 0
  }

  @Test func `each error is one line with a status`() async throws {
    _ = try await run(["key", keyFile])
    let key = ["--key", keyFile]
    let token = try #require(try await run(["make", hosts[0]] + key).first)
    let other = folder.appending(path: "other").path
    _ = try await run(["key", other])
    let cases: [([String], Int32, String)] = [
      (["key", keyFile], 74, "exists already"), (["make", hosts[0]], 64, "carom token key FILE"),
      (["make"] + key, 64, "host"), (["make", "10.0.0.1"] + key, 64, "ADDRESS:PORT"),
      (["make", "10.0.0.1:0"] + key, 64, "a port above 0"),
      (["make", "2001:db8::1:7777"] + key, 64, "[ADDRESS]:PORT"),
      (["make"] + Array(repeating: hosts[0], count: 7) + key, 64, "at most 6"),
      (["make", hosts[0], "--player", "7"] + key, 64, "32 hexadecimal digits"),
      (["make", hosts[0], "--for", "0"] + key, 64, "--for"),
      (["make", hosts[0], "--for", "86401"] + key, 64, "--for"),
      (["make", hosts[0], "--data", String(repeating: "d", count: 257)] + key, 64, "256 bytes"),
      (["make", hosts[0], "--key", folder.path], 74, "not a file"),
      (["make", hosts[0], "--key", other + "x"], 74, "no such file"),
      (["show", ""], 64, "no token was given"),
      (["show", "nonsense"], 64, "not a connect token"),
      (["show", String(token.dropLast())], 64, "not a connect token"),
      (["show", token, "--key", other], 74, "not made with the key"),
    ]
    for (arguments, status, part) in cases {
      let errors = try await run(arguments, status: status)
      #expect(errors.first?.contains(part) == true, "\(arguments): \(errors)")
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: other)
    #expect(try await run(["make", hosts[0], "--key", other], status: 74)[0].contains("chmod 600"))
    try end()
  }

  @Test func `the backend on the page Security makes tokens that hosts accept`() async throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Sources/Carom/Carom.docc/Security.md")
    let parts = try String(contentsOf: page, encoding: .utf8).split(separator: "```python\n")
    let code = try #require(parts.last?.split(separator: "```").first)
    #expect(parts.count == 2 && code.split(separator: "\n").count <= 20)
    let script = folder.appending(path: "backend.py")
    try Data(code.utf8).write(to: script)
    _ = try await run(["key", keyFile])
    let path = ProcessInfo.processInfo.environment["PATH", default: ""]
    let python = try #require(
      path.split(separator: ":").map { URL(filePath: "\($0)/python3") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) })
    let backend = try RunningProcess(python, ["-B", script.path, keyFile, player])
    let (status, errors) = (await backend.status, await backend.errors.all())
    #expect(status == 0, "\(errors)")
    let token = try ConnectToken(try #require(await backend.output.all().first))
    #expect(token.hosts.map(\.description) == hosts)
    let digits = try Data(contentsOf: URL(filePath: keyFile)).dropLast()
    let key = try #require(BackendKey(hexadecimal: digits))
    let reader = TicketReader(keys: [key], start: UnixTime(milliseconds: 0))
    let now = UnixTime(milliseconds: token.made.milliseconds + 59_999)
    let ticket = try reader.read(token.ticketBytes.span, at: now)
    #expect(ticket.player.description == player && ticket.data == Array("team=2".utf8))
    #expect(ticket.key == token.key)
    #expect(throws: ConnectTokenError.expired) {
      try reader.read(token.ticketBytes.span, at: now + .milliseconds(1))
    }
    try end()
  }
}
