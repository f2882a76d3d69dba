import Foundation

/// Box2D in a package and process of its own, so that a machine without it builds all the same.
struct Box2DPeer {
  /// What to do where it is missing.
  static let remedy = "apt-get install libbox2d-dev, then run again"

  private let executable: String

  /// Builds the nested package; nil where that fails, Box2D being absent most likely.
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

  /// Steps a second of a scene in one run; 0 steps leave the count to the peer.
  func rate(_ scene: String, steps: Int) -> Double? {
    Self.output(of: [executable, scene, String(steps)]).flatMap {
      Double($0.trimmingCharacters(in: .whitespacesAndNewlines))
    }
  }

  /// What a program prints, if it ends well.
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
