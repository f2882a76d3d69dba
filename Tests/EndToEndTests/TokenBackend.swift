import Foundation
import Testing

/// A backend that makes connect tokens with the tool, in files of a folder of its own.
struct TokenBackend {
  private let folder: URL
  /// The file of the key that the backend shares with hosts.
  var keyFile: String { folder.appending(path: "key").path }

  init() async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "carom-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let tool = try RunningTool(["token", "key", keyFile])
    #expect(await tool.process.status == 0)
  }

  /// Makes a token for the host at `endpoints`, and returns the file in which the token and its
  /// player are.
  func makeToken(for endpoints: String..., with more: [String] = []) async throws -> String {
    let tool = try RunningTool(
      ["token", "make"] + endpoints + ["--key", keyFile, "--json"] + more)
    #expect(await tool.process.status == 0)
    let line = try #require(await tool.process.output.all().first)
    return try write(line)
  }

  /// Writes a file that its owner alone can read, and returns its path.
  func write(_ content: String, mode: Int = 0o600) throws -> String {
    let file = folder.appending(path: UUID().uuidString).path
    #expect(
      FileManager.default.createFile(
        atPath: file, contents: Data(content.utf8), attributes: [.posixPermissions: mode]))
    return file
  }

  /// Removes the files.
  func end() { try? FileManager.default.removeItem(at: folder) }
}
