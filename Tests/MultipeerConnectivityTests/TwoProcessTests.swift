import Foundation
import Testing

/// Two processes that run the sources of `MultipeerSamples`, which know only Apple's interface.
@Suite(.timeLimit(.minutes(2)), .serialized) struct TwoProcessTests {
  /// The output of a process and its status.
  struct Outcome: Sendable {
    let lines: [Substring]
    let status: Int32
  }

  /// The program, which is in the folder of the test executable.
  private static func program() throws -> URL {
    let tests = try #require(CommandLine.arguments.first)
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "multipeer-peer")
  }

  private func run(_ arguments: [String], in folder: URL) async throws -> Outcome {
    let file = folder.appending(path: "\(arguments[1]) \(UUID()).txt")
    #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
    let process = Process()
    process.executableURL = try Self.program()
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging([
      "CAROM_INTERFACES": "lo", "XDG_CONFIG_HOME": folder.path,
    ]) { $1 }
    process.standardOutput = try FileHandle(forWritingTo: file)
    process.standardError = FileHandle.nullDevice
    try await withCheckedThrowingContinuation { (end: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in end.resume() }
      do { try process.run() } catch { end.resume(throwing: error) }
    }
    let text = try String(contentsOf: file, encoding: .utf8)
    return Outcome(lines: text.split(separator: "\n"), status: process.terminationStatus)
  }

  private func converse(_ type: String, in folder: URL) async throws -> [Outcome] {
    try await withThrowingTaskGroup(of: (Int, Outcome).self) { tasks in
      for (index, name) in ["Maya", "Leo"].enumerated() {
        let archive = folder.appending(path: "\(name).archive").path
        tasks.addTask { (index, try await run([type, name, archive], in: folder)) }
      }
      return try await tasks.reduce(into: []) { $0.append($1) }
        .sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  @Test func `sources for Apple's framework connect two processes, and archived ids stay`()
    async throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: "carom-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try await converse(makeServiceType(), in: folder)
    #expect(first.map(\.status) == [0, 0])
    #expect(first[0].lines.dropFirst() == ["Leo greets", "Leo welcomes Maya"])
    #expect(first[1].lines.dropFirst() == ["Maya greets", "Maya welcomes Leo"])
    let second = try await converse(makeServiceType(), in: folder)
    #expect(second.map { $0.lines.first } == first.map { $0.lines.first })
    #expect(second.map(\.status) == [0, 0])
  }
}
