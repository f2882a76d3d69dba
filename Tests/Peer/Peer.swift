import CaromCore
import CaromDiscovery
import CaromTransport
import Foundation

/// A helper process for tests that publishes or browses, reports events as lines of JSON, and ends
/// when its input ends.
///
///     carom-peer publish NAME TYPE PORT [_SUBTYPE… KEY=VALUE…]
///     carom-peer browse TYPE [SUBTYPE]
///
/// Each line of the input is a command, with its words separated by tabs. "KEY=VALUE…" replaces the
/// TXT record of the first service, "subtypes SUBTYPE…" its subtypes, and "rename NAME" its name.
/// "publish NAME" publishes another service, "withdraw NAME" withdraws one, and "reconfirm NAME"
/// reconfirms one. `CAROM_INTERFACE` names the interface to use; the default is the automatic
/// selection.
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
      default: emit(["event": "usage"])
      }
    } catch {
      emit(["event": "error", "text": "\(error)"])
      exit(1)
    }
  }

  static var interfaces: InterfaceSelection {
    ProcessInfo.processInfo.environment["CAROM_INTERFACE"].map { .named([$0]) } ?? .automatic
  }

  /// Writes a JSON object as one line, without buffering.
  static func emit(_ object: [String: String]) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let line = try? encoder.encode(object) else { return }
    FileHandle.standardOutput.write(line + Data([0x0A]))
  }

  /// The lines of the input, split into words. They are read on a thread of their own.
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
