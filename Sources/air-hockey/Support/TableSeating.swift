import AirHockey
import Carom

/// Who is at the tables of a host, and who may sit down where.
///
/// Tables are numbered from 1. A client is expected from the moment in which the host admits it
/// until its connection has opened, and has its place at the table from then on. The seat of a
/// player who has left and may come back, such as one whose page is being reloaded, is kept for a
/// while.
struct TableSeating: Sendable {
  /// The number of players who sit at a table.
  static let playersPerTable = 2
  /// How long the place of a client is kept whose connection does not open.
  static let openingLimit = Duration.seconds(10)
  /// How long the seat of a player is kept who may come back: as long as the match waits.
  static let returnLimit = Duration.seconds(ClientSeats.holdTicks / Preset.ticksPerSecond)

  /// Why a client gets no place, in one sentence for the client.
  enum Refusal: Error, Hashable, CustomStringConvertible {
    case noSuchTable(Int, of: Int)
    case tableFull(Int)
    case allTablesFull
    case noRoomToWatch(Int)

    var description: String {
      switch self {
      case .noSuchTable(let table, of: 1):
        "There is no table \(table): this host has one table."
      case .noSuchTable(let table, let count):
        "There is no table \(table): this host has the tables 1 to \(count)."
      case .tableFull(let table):
        "Table \(table) is full: watch it, or choose another one."
      case .allTablesFull:
        "All tables are full: watch a match, or try again when a player has left."
      case .noRoomToWatch(let table):
        "No more people can watch table \(table)."
      }
    }
  }

  /// A place that a client may take.
  struct Place: Hashable {
    var table: Int
    /// The computer opponent that has to leave before.
    var displaced: ConnectionID?
  }

  /// Somebody at a table.
  private struct Client {
    let id: PeerID
    let table: Int
    let isSpectator: Bool
    let yieldsSeat: Bool

    init(_ info: PeerInfo, at table: Int) {
      id = info.id
      self.table = table
      isSpectator = info.isSpectator
      yieldsSeat = info.yieldsSeat
    }

    func isPlayer(at table: Int) -> Bool { !isSpectator && self.table == table }
  }

  /// The number of tables.
  let count: Int
  /// The number of spectators who may watch a table.
  let spectatorLimit: Int
  /// The clients whose connections are open, in the order in which they came.
  private var present: [(connection: ConnectionID, client: Client)] = []
  /// The clients that were admitted, and whose connections have not opened yet.
  private var expected: [(client: Client, until: Instant)] = []
  /// The players who have left and whose seats are kept.
  private var away: [(client: Client, until: Instant)] = []

  init(tables count: Int, spectatorLimit: Int) {
    self.count = count
    self.spectatorLimit = spectatorLimit
  }

  /// The number of free seats at a table. The seat of a computer opponent that yields counts as
  /// free, and one that is kept for a player does not.
  func freeSeats(at table: Int, _ now: Instant) -> Int {
    let taken = present.count { $0.client.isPlayer(at: table) && !$0.client.yieldsSeat }
    let kept = away.count { now < $0.until && $0.client.isPlayer(at: table) }
    return max(0, Self.playersPerTable - taken - kept)
  }

  /// The time at which the next seat becomes free that is kept for a player, or nil.
  var nextExpiry: Instant? { away.map(\.until).min() }

  // MARK: Choosing a table

  /// Decides where a client sits or watches: at the table that it names, or where it has a seat
  /// already; otherwise, a player at the first table with a free seat, and a spectator at the first
  /// table with a player.
  func place(for info: PeerInfo, at now: Instant) throws(Refusal) -> Place {
    let wanted = Int(info.match)
    guard wanted <= count else { throw .noSuchTable(wanted, of: count) }
    if info.isSpectator { return Place(table: try watchedTable(for: info, wanted, at: now)) }
    if wanted > 0 {
      guard let place = seat(for: info, at: wanted, now) else { throw .tableFull(wanted) }
      return place
    }
    let last = (present.map(\.client) + away.map(\.client)).last {
      $0.id == info.id && !$0.isSpectator
    }?.table
    if let last, let place = seat(for: info, at: last, now) { return place }
    let places = (1...count).lazy.compactMap { seat(for: info, at: $0, now) }
    guard let place = places.first(where: { $0.displaced == nil }) ?? places.first else {
      throw .allTablesFull
    }
    return place
  }

  private func watchedTable(
    for info: PeerInfo, _ wanted: Int, at now: Instant
  ) throws(Refusal) -> Int {
    let hasRoom = { (table: Int) in
      clients(besides: info.id, at: now).count { $0.isSpectator && $0.table == table }
        < spectatorLimit
    }
    guard wanted == 0 else {
      guard hasRoom(wanted) else { throw .noRoomToWatch(wanted) }
      return wanted
    }
    let tables = (1...count).filter(hasRoom)
    let isPlayed = { (table: Int) in present.contains { $0.client.isPlayer(at: table) } }
    guard let table = tables.first(where: isPlayed) ?? tables.first else { throw .noRoomToWatch(1) }
    return table
  }

  /// Returns the place at a table, or nil if there is no seat for the client.
  private func seat(for info: PeerInfo, at table: Int, _ now: Instant) -> Place? {
    let taken = clients(besides: info.id, at: now).count { $0.isPlayer(at: table) }
    guard taken >= Self.playersPerTable else { return Place(table: table) }
    guard !info.yieldsSeat else { return nil }
    let computer = present.first { $0.client.isPlayer(at: table) && $0.client.yieldsSeat }
    return computer.map { Place(table: table, displaced: $0.connection) }
  }

  /// A client that comes again has its old place until the new connection opens.
  private func clients(besides id: PeerID, at now: Instant) -> [Client] {
    let all =
      present.map(\.client) + expected.filter { now < $0.until }.map(\.client)
      + away.filter { now < $0.until }.map(\.client)
    return all.filter { $0.id != id }
  }

  // MARK: Coming and going

  /// Keeps a place for a client that is admitted.
  mutating func expect(_ info: PeerInfo, at table: Int, _ now: Instant) {
    expected.removeAll { $0.client.id == info.id || $0.until <= now }
    expected.append((Client(info, at: table), now + Self.openingLimit))
  }

  /// Gives a client whose connection has opened its place. Returns the table, or nil if the client
  /// is not expected.
  mutating func open(_ connection: ConnectionID, _ info: PeerInfo) -> Int? {
    guard let index = expected.firstIndex(where: { $0.client.id == info.id }) else { return nil }
    let client = expected.remove(at: index).client
    // Nobody has a seat at one table and another one that is kept.
    away.removeAll { $0.client.id == client.id }
    present.append((connection, client))
    return client.table
  }

  /// Frees the place of a client that has left; the seat of a player who may come back only after
  /// `returnLimit`.
  mutating func leave(_ connection: ConnectionID, _ reason: DisconnectReason, _ now: Instant) {
    guard let index = present.firstIndex(where: { $0.connection == connection }) else { return }
    let client = present.remove(at: index).client
    freeExpiredSeats(at: now)
    guard Self.mayReturn(after: reason), !client.isSpectator, !client.yieldsSeat,
      // A player who has come back already, or who is about to.
      !(present.map(\.client) + expected.map(\.client)).contains(where: { $0.id == client.id })
    else { return }
    away.append((client, now + Self.returnLimit))
  }

  /// Frees the seats that were kept for players who have not come back in time.
  mutating func freeExpiredSeats(at now: Instant) { away.removeAll { $0.until <= now } }

  /// Whether a player may come back after a connection that has ended for a reason. A page that is
  /// closed or reloaded says that its player has left; one whose player chooses to leave the match
  /// says that it is finished.
  private static func mayReturn(after reason: DisconnectReason) -> Bool {
    switch reason {
    case .left, .timedOut, .connectionReset, .connectionLost, .tooSlow: true
    default: false
    }
  }
}
