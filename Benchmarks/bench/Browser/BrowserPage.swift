import Foundation

/// The page of air hockey: the size of its files, and what it takes to run in Node.
struct BrowserPage {
  /// The length of the files, in KiB; `nan` if there is no page.
  var size = Double.nan
  /// The same, compressed by gzip, one by one.
  var compressedSize = Double.nan
  /// The figures of `measure.mjs`, in milliseconds and ticks; empty if it cannot run.
  var figures: [String: Double] = [:]
  /// Why something was not measured.
  var remarks: [String] = []

  /// Measures the page in a folder.
  init(in folder: URL) async throws {
    let files =
      (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil))
      ?? []
    guard files.contains(where: { $0.pathExtension == "wasm" }) else {
      remarks.append("There is no page in \(folder.path): build it with 'make wasm'.")
      return
    }
    let lengths = try files.map { try Data(contentsOf: $0).count }
    size = Double(lengths.reduce(0, +)) / 1024
    compressedSize = Double(try await Self.compressed(files)) / 1024
    try await measure(folder.appending(path: "air-hockey.wasm"))
  }

  private static func compressed(_ files: [URL]) async throws -> Int {
    var sum = 0
    for file in files {
      let command = "gzip -9 -c \"$0\" | wc -c"
      let lines = try await lines(of: ["/bin/sh", "-c", command, file.path])
      sum += lines.first.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) } ?? 0
    }
    return sum
  }

  /// Runs the engine in Node: ticks by itself, and against a host that is 300 ms away.
  private mutating func measure(_ engine: URL) async throws {
    let script = "Benchmarks/BrowserPage/measure.mjs"
    guard FileManager.default.fileExists(atPath: script) else {
      remarks.append("The page does not run: start this in the folder of the package.")
      return
    }
    let host = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "air-hockey")
    if !FileManager.default.fileExists(atPath: host.path) {
      remarks.append("No match against a host: build it with 'make build-game'.")
    }
    let lines = try await Self.lines(
      of: ["/usr/bin/env", "node", script, engine.path, host.path])
    for line in lines {
      let words = line.split(separator: " ")
      guard words.count == 3, words[0] == "figure" else { continue }
      figures[String(words[1])] = Double(words[2])
    }
    if figures.isEmpty { remarks.append("The page does not run: is Node 18 or later installed?") }
  }

  private static func lines(of command: [String]) async throws -> [String] {
    let folder = URL(filePath: FileManager.default.currentDirectoryPath)
    let program = try ChildProgram(command, in: folder, [:])
    // Nothing matches: this waits for the end of the program's output.
    _ = await program.line(within: .seconds(120)) { _ in false }
    return program.lines().map(\.text)
  }
}
