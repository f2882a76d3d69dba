import Foundation

/// The ENet peer, in a separate package and process, so that `bench` builds without ENet.
enum SessionENet {
  /// Advice for the user if ENet is missing.
  static let remedy = "apt-get install libenet-dev, then run again"

  /// Builds the nested package. Returns `nil` if the build fails, most likely because ENet is not
  /// installed.
  static func built() async -> SessionSubject? { await program("enet-peer").map { .enet($0) } }

  /// Builds the nested package. Returns the path of the program that plays the game whose
  /// instructions are counted, or `nil` if the build fails.
  static func counter() async -> String? { await program("enet-count") }

  private static func program(_ name: String) async -> String? {
    let package = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "ENetPeer")
    progress("building the ENet peer")
    let build = "swift build -c release --package-path '\(package.path)' >/dev/null 2>&1"
    let program = try? ChildProgram(
      ["/bin/bash", "-c", "\(build) && echo built || echo failed"], in: package, [:])
    let isBuilt = { @Sendable (line: String) in line == "built" || line == "failed" }
    guard await program?.line(within: .seconds(300), where: isBuilt)?.text == "built" else {
      return nil
    }
    return package.appending(path: ".build/release/\(name)").path
  }
}
