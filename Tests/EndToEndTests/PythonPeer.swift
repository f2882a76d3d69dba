import Foundation
import Testing

/// The peer in Python, which was written from the WireFormat page.
enum PythonPeer {
  /// The path of Python 3, or nil if it is not installed.
  static let python = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
    .map { URL(filePath: String($0)).appending(path: "python3") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "WireFormatTests/peer/air_hockey_peer.py")

  static func start(_ arguments: [String]) throws -> RunningProcess {
    try RunningProcess(try #require(python), ["-B", script.path] + arguments)
  }
}

extension RunningProcess {
  /// Waits for the end of the process, and returns the JSON object on the last line of its output.
  func summary() async throws -> [String: Any] {
    let (lines, errors) = (await output.all(), await errors.all())
    let line = try #require(lines.last, "\(errors)")
    return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }
}
