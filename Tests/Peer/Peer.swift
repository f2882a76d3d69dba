import CaromCore
import CaromDiscovery
import CaromTransport
import Foundation

/// A second process for tests: publishes or browses, tells what happens in JSON lines, and ends
/// when its input does.
///
///     carom-peer publish NAME TYPE PORT [_SUBTYPE… KEY=VALUE…]
///     carom-peer browse TYPE [SUBTYPE]
///
/// Lines of the input, words between tabs: "KEY=VALUE…" changes the strings of the first service,
/// "subtypes SUBTYPE…" its narrower types, and "rename NAME" its name; "publish NAME" makes one
/// more service visible, "withdraw NAME" takes one back, "reconfirm NAME" doubts one.
/// `CAROM_INTERFACE` names the interface; otherwise it is chosen as usual.
@main struct Peer {
  static func main() async {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      switch arguments.first {
      case "publish" where arguments.count >= 4:
        try await Publisher(arguments.dropFirst().map(\.self)).run()
      case "browse" where arguments.count >= 2:
        let subtype = arguments.count > 2 ? arguments[2] : nil
        await Browser(type: try ServiceType(arguments[1]), subtype: subtype).run()
      default: tell(["event": "usage"])
      }
    } catch {
      tell(["event": "error", "text": "\(error)"])
      exit(1)
    }
  }

  static var interfaces: InterfaceSelection {
    ProcessInfo.processInfo.environment["CAROM_INTERFACE"].map { .named([$0]) } ?? .automatic
  }

  /// One JSON object on one line, at once.
  static func tell(_ object: [String: String]) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let line = try? encoder.encode(object) else { return }
    FileHandle.standardOutput.write(line + Data([0x0A]))
  }

  /// The lines of the input until it ends, as words; read on a thread of their own.
  static func input() -> AsyncStream<[String]> {
    let (lines, continuation) = AsyncStream<[String]>.makeStream()
    Thread.detachNewThread {
      while let line = readLine() {
        continuation.yield(line.split(separator: "\t").map(String.init))
      }
      continuation.finish()
    }
    return lines
  }
}
