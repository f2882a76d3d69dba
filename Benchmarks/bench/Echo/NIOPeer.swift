import EchoPeers
import Foundation

/// The echo server of SwiftNIO, in a separate package and process, so that `bench` builds without
/// it.
final class NIOPeer {
  /// Advice for the user if the peer is missing.
  static let remedy =
    "it is fetched from github.com/apple/swift-nio, so check the network, then run again"

  let port: UInt16
  private let process: Process
  private let input: Pipe

  /// Starts an echo server of the given kind: udp, vectored or tcp.
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

  /// The user and system time of the peer's process, in nanoseconds.
  var cpu: UInt64 { echo_process_cpu(process.processIdentifier) }

  /// Closes the peer's standard input, which ends its process.
  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Builds the nested package and returns the path of its executable, or nil if the build fails.
  static func built() -> String? {
    let package = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "NIOEcho").path
    progress("building the SwiftNIO peer (the first build takes minutes)")
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
