import Foundation
import Testing

/// The game's executable as a process without a terminal.
struct RunningGame: Sendable {
  /// The summary that the game prints at its end.
  struct Report: Decodable, Sendable {
    var role: String
    var peer: String?
    var ticks: Int
    var frames: Int
    var score: String
    var endReason: String
    var rollbacks: Int
    var deepestRollback: Int
    var stalls: Int
    var desyncs: Int
    var security: String
    var cipher: String?
    var fingerprint: String?
  }

  let process: RunningProcess

  /// Starts the game on this computer, or on a host of a lab.
  init(
    _ arguments: [String], on host: String? = nil, of lab: Lab? = nil,
    environment: [String: String] = [:], within limit: Duration = RunningProcess.limit
  ) throws {
    let executable = try GameProcess.executable()
    process =
      if let lab, let host {
        try lab.start(executable, arguments, on: host, within: limit)
      } else {
        try RunningProcess(executable, arguments, environment: environment, within: limit)
      }
  }

  /// Starts a host that plays by itself and is not advertised, on the loopback interface.
  static func host(_ more: String...) throws -> RunningGame {
    try RunningGame(
      ["host", "--unlisted", "--interface", "lo", "--bot", "--json", "--name", "Maya"] + more)
  }

  /// Starts a player that plays by itself and joins the host at `port` of this computer.
  static func join(_ port: String, _ more: String...) throws -> RunningGame {
    try RunningGame(["join", "127.0.0.1:\(port)", "--bot", "--json", "--name", "Leo"] + more)
  }

  /// Waits until a host that is not advertised prints its port, and returns it.
  func port() async throws -> String {
    let line = try await line("not listed, port ")
    return try #require(line.split(separator: " ").last.map(String.init))
  }

  /// Waits for the `number`th progress line that contains `text`. The test fails if the game ends
  /// without such a line.
  @discardableResult
  func line(_ text: String, _ number: Int = 1) async throws -> String {
    let line = await process.errors.line(number) { $0.contains(text) }
    if let line { return line }
    let lines = await process.errors.all()
    return try #require(line, "no line '\(text)' in \(lines)")
  }

  /// The progress lines about the end of a game, once the process has ended.
  var ends: [String] {
    get async { await process.errors.all().filter { $0.hasPrefix("match ended: ") } }
  }

  /// Waits for the end of the process and reads its summary.
  func report() async throws -> Report {
    let status = await process.status
    let lines = await process.output.all()
    let errors = await process.errors.all()
    let line = try #require(lines.last, "status \(status), \(errors)")
    return try JSONDecoder().decode(Report.self, from: Data(line.utf8))
  }
}
