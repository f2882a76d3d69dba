import Foundation

/// Programs in Python that speak HTTP and WebSocket as a browser does, written from the RFCs and
/// the WireFormat page.
enum PythonBrowser {
  /// The path of Python 3, or nil if it is not installed.
  static let python = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
    .map { URL(filePath: String($0)).appending(path: "python3") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

  /// Runs a program of `Tests/WireFormatTests/peer` until it exits, and returns the JSON object
  /// that it prints.
  static func run(
    _ script: String, port: UInt16, _ arguments: [String] = []
  ) async throws -> Data {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "WireFormatTests/peer")
    let process = Process()
    let output = Pipe()
    process.executableURL = python
    process.arguments =
      ["-B", folder.appending(path: script).path, "127.0.0.1", "\(port)"] + arguments
    process.standardOutput = output
    try process.run()
    // The end of the pipe may come late, since another process may have inherited it.
    return await withCheckedContinuation { continuation in
      Thread {
        var line = Data()
        while !line.contains(UInt8(ascii: "\n")) {
          let more = output.fileHandleForReading.availableData
          if more.isEmpty { break }
          line += more
        }
        continuation.resume(returning: line)
      }.start()
    }
  }
}
