import Foundation
import Testing

extension ChildProcess {
  /// The path of Python 3, or nil if it is not installed; tests that need it are skipped then.
  static let python = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
    .map { URL(filePath: String($0)).appending(path: "python3") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

  /// Starts one of the Python programs in `peer`, which were written from the WireFormat page.
  static func peer(_ script: String, _ arguments: [String]) throws -> ChildProcess {
    let path = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "peer/\(script)")
    return try ChildProcess(try #require(python), ["-B", path.path] + arguments)
  }
}
