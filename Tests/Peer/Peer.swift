import CaromCore
import CaromDiscovery
import CaromTransport
import Foundation

/// A second process for tests: publishes or browses, tells what happens in JSON lines, and ends
/// when its input does.
///
///     carom-peer publish NAME TYPE PORT [KEY=VALUE…]     a line "KEY=VALUE…" changes the strings
///     carom-peer browse TYPE
///
/// `CAROM_INTERFACE` names the interface; otherwise it is chosen as usual.
@main struct Peer {
  static func main() async {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      switch arguments.first {
      case "publish" where arguments.count >= 4: try await publish(Array(arguments.dropFirst()))
      case "browse" where arguments.count == 2: try await browse(try ServiceType(arguments[1]))
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

  static func publish(_ arguments: [String]) async throws {
    let service = Service(
      name: arguments[0], type: try ServiceType(arguments[1]), port: UInt16(arguments[2]) ?? 0,
      txt: strings(arguments[3...]))
    try await ServiceAdvertiser(service, interfaces: interfaces).run { advertisement in
      tell(["event": "established", "name": advertisement.name])
      let renames = Task {
        for try await name in advertisement.renames { tell(["event": "renamed", "name": name]) }
      }
      for await line in input() {
        let pairs = line.split(separator: " ").map(String.init)
        try await advertisement.update(txt: strings(pairs[...]))
      }
      renames.cancel()
    }
    tell(["event": "withdrawn"])
  }

  static func browse(_ type: ServiceType) async throws {
    let watching = Task {
      for try await change in ServiceBrowser(for: type, interfaces: interfaces).changes {
        await tell(change)
      }
    }
    for await _ in input() {}
    watching.cancel()
  }

  private static func tell(_ change: ServiceChange) async {
    let service = change.service
    let event =
      switch change {
      case .added: "added"
      case .updated: "updated"
      case .removed: "removed"
      }
    tell(["event": event, "name": service.name, "txt": service.txt.description])
    guard case .added = change else { return }
    do throws(DiscoveryError) {
      let resolved = try await service.resolve(within: .seconds(5))
      tell([
        "event": "resolved", "name": service.name, "host": resolved.host,
        "txt": resolved.txt.description,
        "endpoints": resolved.endpoints.map(\.description).joined(separator: " "),
      ])
    } catch {
      tell(["event": "unresolved", "name": service.name, "text": error.description])
    }
  }

  private static func strings(_ pairs: ArraySlice<String>) -> TXTRecord {
    var record = TXTRecord()
    for pair in pairs {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { record[String(parts[0])] = String(parts[1]) }
    }
    return record
  }

  /// One JSON object on one line, at once.
  private static func tell(_ object: [String: String]) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let line = try? encoder.encode(object) else { return }
    FileHandle.standardOutput.write(line + Data([0x0A]))
  }

  /// The lines of the input until it ends, read on a thread of their own.
  private static func input() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream<String>.makeStream()
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return lines
  }
}
