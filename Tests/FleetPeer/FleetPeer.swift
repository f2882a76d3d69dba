import Carom
import CaromFleet
import Foundation

/// Hosts and players of a fleet for tests with many processes: a game that loses nothing.
///
///     fleet-peer host FLEET KEYFILE ADDRESS SEATS
///     fleet-peer play FLEET KEYFILE FIRST MATCHES SHOTS INTERVAL
///
/// A host runs until it is drained, by an operator or by SIGTERM, and has no match any more.
/// `play` places so many matches, whose names have the numbers from FIRST on, and plays for both
/// players of each, who shoot every INTERVAL milliseconds. Each shot is a goal. A match is over
/// when each player has shot so often. Each event is a line of JSON on standard output.
@main struct FleetPeer {
  static let application = "tally"
  static let game = GameVersion(application, "1")

  static func main() async {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      let numbers = arguments.dropFirst(3).map { Int($0) ?? 0 }
      switch arguments.first {
      case "host" where arguments.count == 5:
        try await TallyHost.run(
          in: FleetAddress(arguments[1]), key: key(arguments[2]), at: IPAddress(arguments[3]),
          seats: numbers[1])
      case "play" where arguments.count == 7:
        await TallyPlayers.run(
          in: try FleetAddress(arguments[1]), key: try key(arguments[2]),
          matches: numbers[0]..<numbers[0] + numbers[1], shots: UInt32(numbers[2]),
          every: .milliseconds(numbers[3]))
      default:
        emit("usage")
        exit(2)
      }
    } catch {
      emit("error", ["text": "\(error)"])
      exit(1)
    }
  }

  private static func key(_ path: String) throws -> BackendKey {
    try BackendKeyFile(path: path).load()
  }

  /// Writes an event as a line of JSON, with the time in milliseconds since 1970.
  static func emit(_ event: String, _ more: [String: Any] = [:]) {
    var object = more
    object["event"] = event
    object["at"] = Int(Date().timeIntervalSince1970 * 1_000)
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
    guard let line = try? JSONSerialization.data(withJSONObject: object, options: options) else {
      return
    }
    FileHandle.standardOutput.write(line + Data([0x0A]))
  }
}
