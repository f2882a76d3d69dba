import EchoPeers
import Foundation

/// SwiftNIO in a package and processes of its own, so that a machine without it builds all the
/// same.
final class NIOPeer {
  /// What to do where it is missing.
  static let remedy = "it is fetched from github.com/apple/swift-nio when the network allows"

  let port: UInt16
  private let process: Process
  private let input: Pipe

  /// Starts an echo: udp, vectored or tcp.
  init?(_ kind: String, executable: String, core: Int32) {
    process = Process()
    process.executableURL = URL(filePath: executable)
    process.arguments = [kind]
    input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    guard (try? process.run()) != nil else { return nil }
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      process.terminate()
      return nil
    }
    self.port = port
    echo_pin(process.processIdentifier, core)
  }

  /// User plus system time of its process, nanoseconds.
  var cpu: UInt64 { echo_process_cpu(process.processIdentifier) }

  /// The process ends when its input does.
  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Builds the nested package; the executable's path, or nil where that fails.
  static func built() -> String? {
    let package = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "NIOEcho").path
    progress("building the SwiftNIO peer (minutes, the first time)")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["swift", "build", "-c", "release", "--package-path", package]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return package + "/.build/release/NIOEcho"
  }
}
