import Foundation

/// The Box2D peer, in a separate package and process, so that `bench` builds without Box2D.
struct Box2DPeer {
  /// Advice for the user if Box2D is missing.
  static let remedy = "apt-get install libbox2d-dev, then run again"

  private let executable: String

  /// Builds the nested package. Returns nil if the build fails, most likely because Box2D is not
  /// installed.
  static func built() -> Box2DPeer? {
    let package = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Box2DPeer").path
    progress("building the Box2D peer")
    let arguments = ["swift", "build", "-c", "release", "--package-path", package]
    guard output(of: arguments) != nil,
      let bin = output(of: arguments + ["--show-bin-path"])?
        .trimmingCharacters(in: .whitespacesAndNewlines)
    else { return nil }
    return Box2DPeer(executable: bin + "/box2d-peer")
  }

  /// Runs a scene once and returns its steps a second. If `steps` is 0, the peer chooses the number
  /// of steps.
  func rate(_ scene: String, steps: Int) -> Double? {
    Self.output(of: [executable, scene, String(steps)]).flatMap {
      Double($0.trimmingCharacters(in: .whitespacesAndNewlines))
    }
  }

  /// Returns the standard output of a program, or nil if it exits with another status than 0.
  private static func output(of arguments: [String]) -> String? {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : nil
  }
}
