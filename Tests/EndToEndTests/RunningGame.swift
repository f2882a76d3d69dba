import Foundation
import Testing

/// The game's executable, run as players run it, without a terminal.
struct RunningGame: Sendable {
  /// What it says of itself at its end.
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
  }

  let process: RunningProcess

  /// Starts it on this machine, or on a host of a lab.
  init(
    _ arguments: [String], on host: String? = nil, of lab: Lab? = nil,
    within limit: Duration = RunningProcess.limit
  ) throws {
    let executable = try GameProcess.executable()
    process =
      if let lab, let host {
        try lab.start(executable, arguments, on: host, within: limit)
      } else {
        try RunningProcess(executable, arguments, within: limit)
      }
  }

  /// The `number`th progress line that holds `text`; without one the test ends.
  @discardableResult
  func line(_ text: String, _ number: Int = 1) async throws -> String {
    let line = await process.errors.line(number) { $0.contains(text) }
    if let line { return line }
    let said = await process.errors.all()
    return try #require(line, "no line '\(text)' in \(said)")
  }

  /// How often the end of a match was told so far, once the process has ended.
  var ends: [String] {
    get async { await process.errors.all().filter { $0.hasPrefix("game ended: ") } }
  }

  /// Waits for its end, and reads its summary.
  func report() async throws -> Report {
    let status = await process.status
    let lines = await process.output.all()
    let errors = await process.errors.all()
    let line = try #require(lines.last, "status \(status), \(errors)")
    return try JSONDecoder().decode(Report.self, from: Data(line.utf8))
  }
}
