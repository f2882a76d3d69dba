import Foundation

/// The toolchain's own formatter, asked for its opinion.
enum Formatter {
  enum Failure: Error { case missing, noRoom }

  /// What it complains of in these files and folders; empty where all is well.
  static func complaints(about paths: [String]) async throws -> String {
    guard let swift = find("swift") else { throw Failure.missing }
    // Not a pipe, whose end another test's process might inherit and keep open.
    let log = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).log")
    defer { try? FileManager.default.removeItem(at: log) }
    guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
      throw Failure.noRoom
    }
    let process = Process()
    process.executableURL = swift
    process.arguments = ["format", "lint", "--strict", "-r"] + paths
    process.currentDirectoryURL = SourceTree.top
    process.standardError = try FileHandle(forWritingTo: log)
    process.standardOutput = FileHandle.nullDevice
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch { ended.resume(throwing: error) }
    }
    let text = try String(contentsOf: log, encoding: .utf8)
    if process.terminationStatus == 0 { return "" }
    return text.isEmpty ? "swift format ended with \(process.terminationStatus)" : text
  }

  private static func find(_ program: String) -> URL? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").map { URL(filePath: String($0)).appending(path: program) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}
