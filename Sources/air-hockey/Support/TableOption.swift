import ArgumentParser
import Carom

/// The option with which a client names one of a host's tables.
struct TableOption: ParsableArguments {
  /// The maximum number of tables of a host.
  static let limit = 64

  @Option(
    name: .customLong("table"), parsing: .unconditional,
    help: ArgumentHelp(
      """
      The number of the table, at a host with several. Without it, those who play get the first \
      table with a free seat, and those who watch the first one with a player.
      """, valueName: "number"))
  var number: Int?

  func validate() throws {
    guard (1...Self.limit).contains(number ?? 1) else {
      throw ValidationError("--table must be a whole number from 1 to \(Self.limit).")
    }
  }

  /// Returns the information about a player who wants to come to this table.
  func applied(to info: PeerInfo) -> PeerInfo {
    var info = info
    info.match = UInt16(number ?? 0)
    return info
  }
}
