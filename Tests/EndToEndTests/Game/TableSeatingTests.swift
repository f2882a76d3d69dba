import Carom
import Testing

@testable import air_hockey

/// Who sits down at which of a host's tables.
struct TableSeatingTests {
  private var seating = TableSeating(tables: 3, spectatorLimit: 2)
  private var connections: [PeerID: ConnectionID] = [:]
  private var count: UInt64 = 0
  private var now = Instant(nanoseconds: 0)

  private var freeSeats: [Int] { (1...3).map { seating.freeSeats(at: $0, now) } }

  private func makeInfo(
    _ number: UInt64, table: UInt16 = 0, isSpectator: Bool = false, yieldsSeat: Bool = false
  ) -> PeerInfo {
    var info = PeerInfo(
      id: PeerID(high: 0, low: number), name: "player \(number)", application: "airhockey",
      yieldsSeat: yieldsSeat, isSpectator: isSpectator)
    info.match = table
    return info
  }

  /// Lets a client in. Returns its table, or the reason why it has none.
  private mutating func admit(_ info: PeerInfo) -> Result<Int, TableSeating.Refusal> {
    do throws(TableSeating.Refusal) {
      let place = try seating.place(for: info, at: now)
      if let displaced = place.displaced { seating.leave(displaced, .replaced, now) }
      seating.expect(info, at: place.table, now)
      count += 1
      let connection = ConnectionID(count)
      connections[info.id] = connection
      #expect(seating.open(connection, info) == place.table)
      return .success(place.table)
    } catch { return .failure(error) }
  }

  private mutating func leave(_ number: UInt64, _ reason: DisconnectReason = .finished) {
    let connection = connections[PeerID(high: 0, low: number)]
    if let connection { seating.leave(connection, reason, now) }
  }

  @Test mutating func `a player without a wish gets the first free seat`() {
    for (number, table) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3)] as [(UInt64, Int)] {
      #expect(admit(makeInfo(number)) == .success(table))
    }
    #expect(admit(makeInfo(7)) == .failure(.allTablesFull))
    leave(3)
    #expect(freeSeats[1] == 1)
    #expect(admit(makeInfo(7)) == .success(2))
    #expect(freeSeats == [0, 0, 0])
  }

  @Test mutating func `a player sits down at the table that it names, or nowhere`() {
    #expect(admit(makeInfo(1, table: 3)) == .success(3))
    #expect(admit(makeInfo(2, table: 3)) == .success(3))
    #expect(admit(makeInfo(3, table: 3)) == .failure(.tableFull(3)))
    #expect(admit(makeInfo(3, table: 4)) == .failure(.noSuchTable(4, of: 3)))
    #expect(admit(makeInfo(3, table: .max)) == .failure(.noSuchTable(65_535, of: 3)))
    #expect(freeSeats == [2, 2, 0])
  }

  @Test mutating func `a player that comes again has its own seat at a full table`() {
    #expect(admit(makeInfo(1, table: 2)) == .success(2))
    #expect(admit(makeInfo(2, table: 2)) == .success(2))
    let first = connections[PeerID(high: 0, low: 1)]
    // Without a wish as well: its old connection has not ended yet.
    #expect(admit(makeInfo(1)) == .success(2))
    #expect(admit(makeInfo(1, table: 2)) == .success(2))
    if let first { seating.leave(first, .replaced, now) }
    #expect(freeSeats[1] == 0)
    // Or sits down elsewhere.
    #expect(admit(makeInfo(1, table: 1)) == .success(1))
  }

  @Test mutating func `a computer opponent yields its seat at its own table`() {
    #expect(admit(makeInfo(1, table: 1, yieldsSeat: true)) == .success(1))
    #expect(freeSeats[0] == 2)
    #expect(admit(makeInfo(2, table: 1)) == .success(1))
    // It yields to a player, not to another computer.
    #expect(admit(makeInfo(3, table: 1, yieldsSeat: true)) == .failure(.tableFull(1)))
    #expect(admit(makeInfo(4, table: 1)) == .success(1))
    #expect(admit(makeInfo(5, table: 1)) == .failure(.tableFull(1)))
    // A free seat comes before one that somebody would have to leave.
    #expect(admit(makeInfo(6, table: 2, yieldsSeat: true)) == .success(2))
    #expect(admit(makeInfo(7, table: 2)) == .success(2))
    #expect(admit(makeInfo(8)) == .success(3))
    #expect(admit(makeInfo(9)) == .success(3))
    #expect(admit(makeInfo(10)) == .success(2))
    #expect(admit(makeInfo(11)) == .failure(.allTablesFull))
  }

  @Test mutating func `spectators watch a table that is played, as far as there is room`() {
    #expect(admit(makeInfo(1, isSpectator: true)) == .success(1))
    #expect(admit(makeInfo(2, table: 2)) == .success(2))
    #expect(admit(makeInfo(3, isSpectator: true)) == .success(2))
    #expect(admit(makeInfo(4, table: 2, isSpectator: true)) == .success(2))
    #expect(admit(makeInfo(5, table: 2, isSpectator: true)) == .failure(.noRoomToWatch(2)))
    #expect(admit(makeInfo(5, table: 9, isSpectator: true)) == .failure(.noSuchTable(9, of: 3)))
    // They take no seat, and find another table without a player.
    #expect(freeSeats[1] == 1)
    #expect(admit(makeInfo(5, isSpectator: true)) == .success(1))
    #expect(admit(makeInfo(6, table: 3, isSpectator: true)) == .success(3))
    #expect(admit(makeInfo(7, isSpectator: true)) == .success(3))
    #expect(admit(makeInfo(8, isSpectator: true)) == .failure(.noRoomToWatch(1)))
  }

  @Test mutating func `a seat is kept for a client until its connection opens, for ten seconds`()
    throws
  {
    seating.expect(makeInfo(1), at: 1, now)
    seating.expect(makeInfo(2), at: 1, now)
    let soon = now + .milliseconds(9_999)
    #expect(throws: TableSeating.Refusal.tableFull(1)) {
      try seating.place(for: makeInfo(3, table: 1), at: soon)
    }
    let later = now + .seconds(10)
    #expect(try seating.place(for: makeInfo(3, table: 1), at: later).table == 1)
    // Nobody else comes in on it.
    #expect(seating.open(ConnectionID(9), makeInfo(3)) == nil)
  }

  @Test(arguments: [.left, .timedOut, .connectionReset, .connectionLost] as [DisconnectReason])
  mutating func `the seat of a player who may come back is kept for ten seconds`(
    _ reason: DisconnectReason
  ) {
    #expect(admit(makeInfo(1, table: 2)) == .success(2))
    #expect(admit(makeInfo(2, table: 2)) == .success(2))
    leave(1, reason)
    #expect(freeSeats == [2, 0, 2])
    #expect(seating.nextExpiry == Instant(nanoseconds: 0) + .seconds(10))
    now = now + .milliseconds(9_999)
    #expect(admit(makeInfo(3, table: 2)) == .failure(.tableFull(2)))
    #expect(admit(makeInfo(3)) == .success(1))
    // She comes back without a wish as well, and it is kept for as long when she leaves again.
    #expect(admit(makeInfo(1)) == .success(2))
    #expect(seating.nextExpiry == nil)
    leave(1, reason)
    now = now + .milliseconds(9_999)
    #expect(freeSeats == [1, 0, 2])
    now = now + .milliseconds(1)
    #expect(freeSeats == [1, 1, 2])
    #expect(admit(makeInfo(4, table: 2)) == .success(2))
    seating.freeExpiredSeats(at: now)
    #expect(seating.nextExpiry == nil)
  }

  @Test mutating func `no seat is kept for those who do not come back, or sit elsewhere`() {
    for (number, reason) in [(1, .finished), (2, .kicked(""))] as [(UInt64, DisconnectReason)] {
      #expect(admit(makeInfo(number, table: 1)) == .success(1))
      leave(number, reason)
      #expect(freeSeats == [2, 2, 2])
    }
    #expect(admit(makeInfo(3, table: 1)) == .success(1))
    leave(3, .left)
    #expect(admit(makeInfo(3, table: 2)) == .success(2))
    #expect(freeSeats == [2, 1, 2])
    // A connection that ends when its player has come back on another one.
    let first = connections[PeerID(high: 0, low: 3)]
    #expect(admit(makeInfo(3, table: 3)) == .success(3))
    if let first { seating.leave(first, .timedOut, now) }
    #expect(freeSeats == [2, 2, 1])
    // Neither a spectator nor a computer opponent has a seat that is kept.
    #expect(admit(makeInfo(4, table: 1, isSpectator: true)) == .success(1))
    #expect(admit(makeInfo(5, table: 1, yieldsSeat: true)) == .success(1))
    leave(4, .left)
    leave(5, .left)
    #expect(freeSeats == [2, 2, 1])
    #expect(seating.nextExpiry == nil)
  }

  @Test func `each refusal is one sentence`() {
    let refusals: [(TableSeating.Refusal, String)] = [
      (.noSuchTable(9, of: 4), "There is no table 9: this host has the tables 1 to 4."),
      (.noSuchTable(2, of: 1), "There is no table 2: this host has one table."),
      (.tableFull(3), "Table 3 is full: watch it, or choose another one."),
      (.allTablesFull, "All tables are full: watch a match, or try again when a player has left."),
      (.noRoomToWatch(3), "No more people can watch table 3."),
    ]
    for (refusal, sentence) in refusals { #expect(refusal.description == sentence) }
  }
}
