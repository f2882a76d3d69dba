import AirHockey
import Carom
import CaromServer

/// The tables of a host that has several: one session, in which each table is a match of its own.
///
/// The hall decides who comes to which table, and passes on what concerns them all. The game that
/// shows the host's screen, its `front`, plays at none of them.
actor TableHall: LoopActor {
  /// The time between two frames of a table at which nobody plays. Clients wake their table.
  static let waitingFrame = Duration.milliseconds(250)

  nonisolated let loop: NetworkLoop
  private let front: NetGame
  private var seating: TableSeating
  private var games: [NetGame] = []
  private var matches: ConcurrentMatches?
  private var seatsChanged: @Sendable (_ free: Int) -> Void = { _ in }
  /// The timer that frees a seat whose player has not come back.
  private var keptSeatTimer: LoopTimer?

  init(tables count: Int, front: NetGame) {
    loop = front.loop
    self.front = front
    seating = TableSeating(tables: count, spectatorLimit: HostCommand.spectatorLimit)
  }

  /// Opens the tables to the peers of a session. Calls `seatsChanged` with the number of free seats
  /// whenever it changes.
  func open(
    over session: Session, seatsChanged: @escaping @Sendable (_ free: Int) -> Void
  ) async throws {
    let matches = ConcurrentMatches(seating.count, over: session) { [weak self] peer in
      self?.assumeIsolated { $0.seating.open(peer.connectionID, peer.info) }.map { $0 - 1 }
    }
    (self.matches, self.seatsChanged) = (matches, seatsChanged)
    for table in 1...seating.count {
      let game = NetGame(Self.setup(of: table, front.setup), on: loop)
      try await game.begin { [front] in TableDisplay(table: table, front: front) }
      await game.becomeTable(of: matches)
      games.append(game)
    }
    keptSeatTimer = LoopTimer(on: loop, owner: self) { hall in hall.updateFreeSeats() }
    await session.observe { [weak self] event in self?.assumeIsolated { $0.handle(event) } }
  }

  private static func setup(of table: Int, _ front: NetGame.Setup) -> NetGame.Setup {
    var setup = front
    setup.table = table
    setup.clients = TableSeating.playersPerTable
    (setup.kiosk, setup.health) = (nil, TickHealth())
    (setup.notice, setup.showsNetwork) = (nil, false)
    setup.waitingFrame = waitingFrame
    return setup
  }

  // MARK: Clients

  /// Decides whether a client is let in. Must be called on the loop.
  nonisolated func admit(_ info: PeerInfo) -> Admission { assumeIsolated { $0.decide(info) } }

  private func decide(_ info: PeerInfo) -> Admission {
    do throws(TableSeating.Refusal) {
      let place = try seating.place(for: info, at: loop.now)
      if let computer = place.displaced {
        matches?.session.node.assumeIsolated {
          $0.close(computer, Goodbye(.replaced), as: .replaced)
        }
      }
      seating.expect(info, at: place.table, loop.now)
      return .accept
    } catch {
      return .decline(error.description)
    }
  }

  private func handle(_ event: PeerEvent) {
    switch event {
    case .joined(let peer):
      // The first to ask for the peer's match gives the peer its place.
      if let match = matches?.match(of: peer) { wake(match) }
    case .left(let peer, let reason):
      if let match = matches?.match(of: peer) { wake(match) }
      seating.leave(peer.connectionID, reason, loop.now)
    case .interrupted(let peer), .resumed(let peer):
      if let match = matches?.match(of: peer) { wake(match) }
      return
    default: return
    }
    updateFreeSeats()
  }

  /// Tells how many seats are free, now and when the next one is no longer kept for its player.
  private func updateFreeSeats() {
    let now = loop.now
    seating.freeExpiredSeats(at: now)
    if let expiry = seating.nextExpiry { keptSeatTimer?.arm(at: expiry) }
    seatsChanged((1...seating.count).reduce(0) { $0 + seating.freeSeats(at: $1, now) })
  }

  /// Lets a table handle what has happened, after everybody has learned of it.
  private func wake(_ match: Int) {
    guard games.indices.contains(match) else { return }
    let game = games[match]
    loop.post { game.assumeIsolated { $0.wake() } }
  }

  // MARK: The end

  /// Ends all matches: everybody receives the score of its match. Returns the summary.
  func close() -> Summary {
    keptSeatTimer?.cancel()
    var summary = Summary(role: "tables")
    summary.security = front.setup.policy.rawValue
    for game in games {
      let ended = game.assumeIsolated { $0.closeTable() }
      summary.ticks += ended.ticks
      summary.games += ended.games
      summary.timing.merge(ended.timing)
      summary.prediction.lateInputs += ended.prediction.lateInputs
    }
    return summary
  }

  // MARK: Monitors

  /// Who is at the tables.
  var roster: HallRoster {
    let now = loop.now
    return HallRoster(
      host: front.setup.name,
      tables: games.indices.map { index in
        let roster = games[index].assumeIsolated { $0.roster }
        let freeSeats = seating.freeSeats(at: index + 1, now)
        return TableRoster(roster, table: index + 1, freeSeats: freeSeats)
      })
  }

  /// The page that tells whether the ticks of all tables run on time.
  var health: BrowserOptions.Page {
    let now = loop.now
    let healths = games.compactMap(\.setup.health)
    let latest = healths.max {
      ($0.lateness(at: now) ?? .zero) < ($1.lateness(at: now) ?? .zero)
    }
    return (latest ?? TickHealth()).page(at: now)
  }
}
