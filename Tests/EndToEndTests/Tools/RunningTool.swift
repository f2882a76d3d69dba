import Foundation
import Testing

/// The command line tool, run as a process without a terminal.
struct RunningTool: Sendable {
  /// An output line of `--json`.
  struct Line: Decodable, Sendable {
    var event: String
    var name: String?
    var type: String?
    var domain: String?
    var purpose: String?
    var interfaces: [String]?
    var txt: [String: String?]?
    var host: String?
    var endpoints: [String]?
    var port: Int?
    var ttl: Int?
    var data: String?
    var section: String?
    var interface: String?
    var source: String?
    var address: String?
    var file: String?
    var peer: String?
    var size: Int?
    var stored: Int?
    var reason: String?
    var id: String?
    var state: String?
    var match: String?
    var matches: Int?
    var player: String?
    var token: String?
    var code: String?
    var number: Int?
  }

  let process: RunningProcess

  /// The tool's executable, which is in the folder of the test executable.
  static func executable() throws -> URL {
    let tests = try #require(CommandLine.arguments.first)
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "carom")
  }

  /// Starts the tool on loopback, or on a host of a lab.
  init(_ arguments: [String], on host: String? = nil, of lab: Lab? = nil) throws {
    let executable = try Self.executable()
    process =
      if let lab, let host {
        try lab.start(executable, arguments, on: host, within: RunningProcess.limit)
      } else {
        try RunningProcess(executable, arguments)
      }
  }

  /// Starts the tool on loopback with `--json`.
  static func start(_ arguments: String...) throws -> RunningTool {
    try RunningTool(arguments + ["--interface", "lo", "--json"])
  }

  /// Waits for a line of the given event that contains `part`.
  @discardableResult
  func line(_ event: String, with part: String? = nil) async throws -> Line {
    let mark = "{\"event\":\"\(event)\""
    let text = await process.output.line { line in
      line.hasPrefix(mark) && part.map { line.contains($0) } ?? true
    }
    guard let text else {
      let (output, errors) = (await process.output.all(), await process.errors.all())
      return try #require(nil, "no \(event): \(output) \(errors)")
    }
    return try JSONDecoder().decode(Line.self, from: Data(text.utf8))
  }

  /// Sends a signal and returns the exit status.
  func end(_ signal: Int32 = SIGINT) async -> Int32 {
    process.signal(signal)
    return await process.status
  }

  /// Makes a service type that no other test uses.
  static func makeType() -> String { "_t\(UInt32.random(in: 0 ... .max))._tcp" }
}
