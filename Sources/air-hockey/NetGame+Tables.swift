import AirHockey
import AirHockeyTerminal
import Carom

// A table of a host that has several, and the game that shows the host's screen.
extension NetGame {
  /// Becomes one of the host's tables, which is paused until a client takes a seat.
  func becomeTable(of matches: ConcurrentMatches) {
    (self.matches, session) = (matches, matches.session)
    becomeHost()
  }

  /// Becomes the game that shows the screen of a host with several tables.
  func becomeFront(of hall: TableHall) { self.hall = hall }

  /// Handles what has happened to the peers of this table.
  func wake() {
    // A table that is played does so in its next tick.
    if !isOver, !isPlaying { runFrameNow() }
  }

  /// Ends the match of this table, whose peers receive the score, and returns its summary.
  func closeTable() -> Summary {
    if case .host(let match) = role { finishHosting(match) } else { end("finished") }
    return summary
  }

  /// The banner of a host with several tables.
  func banner(of hall: TableHall) -> TableView.Banner {
    let roster = hall.assumeIsolated { $0.roster }
    return TableView.Banner("\(roster.tables.count) tables", detail: roster.line)
  }
}

/// The display of one of several tables, which writes to that of the host.
struct TableDisplay: GameDisplay {
  let table: Int
  let front: NetGame

  func write(_ line: String) {
    front.assumeIsolated { $0.display.write("table \(table): \(line)") }
  }
}
