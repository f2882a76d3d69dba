import Foundation

/// Programs in Python that speak HTTP and WebSocket as a browser does, written from the RFCs and
/// the WireFormat page.
enum PythonBrowser {
  /// The path of Python 3, or nil if it is not installed.
  static let python = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
    .map { URL(filePath: String($0)).appending(path: "python3") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

  /// The system's own Python, which has the system's packages.
  static let system = URL(filePath: "/usr/bin/python3")
  /// Whether that has an implementation of WebRTC, which Debian's package python3-aiortc installs.
  static let hasWebRTC =
    (try? FileManager.default.contentsOfDirectory(
      atPath: "/usr/lib/python3/dist-packages"))?.contains("aiortc") == true

  /// Runs a program of `Tests/WireFormatTests/peer` until it exits, and returns the JSON object
  /// that it prints. The Python of the `PATH` runs it by default.
  static func run(
    _ script: String, port: UInt16, _ arguments: [String] = [], python: URL? = python
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
