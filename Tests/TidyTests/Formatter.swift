import Foundation

/// The toolchain's own formatter, asked for its opinion.
enum Formatter {
  enum Failure: Error { case missing }

  /// What it complains of in these files and folders; empty where all is well.
  static func complaints(about paths: [String]) throws -> String {
    guard let swift = find("swift") else { throw Failure.missing }
    let process = Process()
    process.executableURL = swift
    process.arguments = ["format", "lint", "--strict", "-r"] + paths
    process.currentDirectoryURL = SourceTree.top
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    if process.terminationStatus == 0 { return "" }
    return text.isEmpty ? "swift format ended with \(process.terminationStatus)" : text
  }

  private static func find(_ program: String) -> URL? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").map { URL(filePath: String($0)).appending(path: program) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}
