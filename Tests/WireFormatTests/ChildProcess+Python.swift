import Foundation
import Testing

extension ChildProcess {
  /// Where Python 3 is; `nil` skips what needs it.
  static let python = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
    .map { URL(filePath: String($0)).appending(path: "python3") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

  /// Runs one of the programs that were written from the page.
  static func peer(_ script: String, _ arguments: [String]) throws -> ChildProcess {
    let path = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "peer/\(script)")
    return try ChildProcess(try #require(python), ["-B", path.path] + arguments)
  }
}
