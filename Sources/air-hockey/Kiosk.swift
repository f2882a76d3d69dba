import AirHockey
import Carom
import CaromFleet
import CaromServer

/// What a host that runs for weeks, as in an exhibit, answers to monitors on its port.
struct Kiosk: Sendable {
  /// The time between two reports of the session's metrics.
  static let reportInterval = Duration.seconds(5)

  let health = TickHealth()
  let metrics: SessionMetrics
  private let memory = PrometheusMetrics()

  init() { metrics = SessionMetrics(factory: memory) }

  /// Returns the resources of a host, which are made on the loop of its session. `game` must be on
  /// that loop. `hall` has the tables of a host with several, and `gate` is that of a table of a
  /// fleet.
  func resources(
    of game: NetGame, _ hall: TableHall?, gate: FleetGate?
  ) -> [String: @Sendable () -> BrowserOptions.Page] {
    let ready: @Sendable () -> BrowserOptions.Page = {
      guard let closure = gate?.closure else { return BrowserOptions.Page(text: "ready\n") }
      return BrowserOptions.Page(text: "\(closure)\n", isAvailable: false)
    }
    guard let hall else {
      return [
        "/health": { [health] in health.page(at: game.loop.now) },
        "/ready": ready,
        "/metrics": { [memory] in memory.page },
        "/roster": { game.assumeIsolated { $0.roster.page } },
      ]
    }
    return [
      "/health": { hall.assumeIsolated { $0.health } },
      "/ready": ready,
      "/metrics": { metricsPage(of: hall) },
      "/roster": { hall.assumeIsolated { $0.roster.page } },
    ]
  }

  /// The metrics of the session, and who is at each table.
  private func metricsPage(of hall: TableHall) -> BrowserOptions.Page {
    for table in hall.assumeIsolated({ $0.roster.tables }) {
      let dimensions = [("table", "\(table.table)")]
      let players = memory.makeRecorder(
        label: "airhockey.players", dimensions: dimensions, aggregate: false)
      players.record(Int64(TableSeating.playersPerTable - table.freeSeats))
      let spectators = memory.makeRecorder(
        label: "airhockey.spectators", dimensions: dimensions, aggregate: false)
      spectators.record(Int64(table.spectators))
    }
    return memory.page
  }
}

/// Who is at a table, for "/roster".
struct Roster: Encodable, Equatable {
  /// The name of the host.
  var host: String
  /// The names of home and away; null for a seat without a player whom the host can reach.
  var players: [String?]
  /// The number of the match, which is 0 before the first one.
  var match: UInt16
  /// The goals of home and away.
  var score: [UInt8]
  /// Whether a player has paused the match.
  var isPaused: Bool
  var spectators: Int

  /// The roster as one JSON object on a line.
  var page: BrowserOptions.Page { .json(self) }
}

extension NetGame {
  /// Who is at the table of this host.
  var roster: Roster {
    let match: HostedRollback<Rink>? = if case .host(let match) = role { match } else { nil }
    let state = match?.server.state.state ?? RinkState()
    return Roster(
      host: setup.name, players: playerNames.map { $0.isEmpty ? nil : $0 }, match: state.match,
      score: [state.score.home, state.score.away], isPaused: state.isPaused,
      spectators: match?.peers.count { match?.player(of: $0) == nil } ?? 0)
  }

  private var playerNames: [String] {
    if case .playing(let home, let away) = playing { [home, away] } else { [] }
  }
}
