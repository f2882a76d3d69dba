import Foundation
import Testing

/// The programs in `peer`, which were written from the WireFormat page.
enum Python {
  /// The path of Python 3, or nil if it is not installed.
  static let executable = ProcessInfo.processInfo.environment["PATH", default: ""]
    .split(separator: ":").map { URL(filePath: String($0)).appending(path: "python3") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

  /// Runs a program with a file, and returns what it prints.
  static func run(_ program: String, _ file: URL) async throws -> String {
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "peer").appending(path: program)
    // Not a pipe, whose end another test's process might inherit and keep open.
    let output = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).txt")
    defer { try? FileManager.default.removeItem(at: output) }
    try #require(FileManager.default.createFile(atPath: output.path, contents: nil))
    let process = Process()
    process.executableURL = executable
    process.arguments = ["-B", script.path, file.path]
    process.standardOutput = try FileHandle(forWritingTo: output)
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch { ended.resume(throwing: error) }
    }
    return try String(contentsOf: output, encoding: .utf8)
  }
}
