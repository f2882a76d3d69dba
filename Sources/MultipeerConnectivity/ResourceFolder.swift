import Foundation

/// The temporary folder of one engine, in which resources are received.
struct ResourceFolder {
  let url: URL

  /// Creates a new folder that only this account can read.
  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("carom-multipeer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// Removes the folder with everything in it.
  func remove() { try? FileManager.default.removeItem(at: url) }
}
