import Carom
import Foundation

/// Who is at the tables of a host that has several, for the lobby of the page and for monitors.
struct HallRoster: Encodable, Equatable {
  /// The name of the host.
  var host: String
  var tables: [TableRoster]

  /// The roster as one JSON object on a line.
  var page: BrowserOptions.Page { .json(self) }

  /// The roster in a few words.
  var line: String {
    let played = tables.count { $0.freeSeats < TableSeating.playersPerTable }
    let players = tables.reduce(0) { $0 + TableSeating.playersPerTable - $1.freeSeats }
    let spectators = tables.reduce(0) { $0 + $1.spectators }
    return "\(played) of \(tables.count) tables in play · "
      + "\(players) \(players == 1 ? "player" : "players") · \(spectators) watching"
  }
}

/// Who is at one of several tables.
struct TableRoster: Encodable, Equatable {
  /// The number of the table, from 1.
  var table: Int
  /// The names of home and away; null for a seat without a player whom the host can reach.
  var players: [String?]
  /// The number of seats that a player can take.
  var freeSeats: Int
  /// The number of the match, which is 0 before the first one.
  var match: UInt16
  /// The goals of home and away.
  var score: [UInt8]
  /// Whether a player has paused the match.
  var isPaused: Bool
  var spectators: Int

  /// Creates the roster of a table. At a table without players, it shows no earlier match.
  init(_ roster: Roster, table: Int, freeSeats: Int) {
    self.table = table
    self.freeSeats = freeSeats
    let isEmpty = freeSeats == TableSeating.playersPerTable
    players = isEmpty ? [nil, nil] : roster.players
    score = isEmpty ? [0, 0] : roster.score
    match = roster.match
    isPaused = !isEmpty && roster.isPaused
    spectators = roster.spectators
  }
}

extension BrowserOptions.Page {
  /// Creates a page with a value as one JSON object on a line.
  static func json(_ value: some Encodable) -> Self {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = (try? encoder.encode(value)) ?? Data("{}".utf8)
    return Self(Array(json) + [0x0A], mediaType: "application/json")
  }
}
