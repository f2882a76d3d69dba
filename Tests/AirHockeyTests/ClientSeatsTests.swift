import CaromCore
import CaromSimulation
import Testing

@testable import AirHockey

/// A table of two clients, without a network: the inputs of its host and its clients are merged as
/// a `RollbackServer` merges them.
private struct TwoClientTable {
  var rink = Rink(match: 0)
  var seats = ClientSeats(strength: .easy, seed: 3)
  var events: [RinkEvent] = []
  /// The clients' inputs, nil on seats without a client.
  var inputs = SeatValues<RinkInput?>(nil, nil)

  static let leo = PeerID(high: 0, low: 1)
  static let zoe = PeerID(high: 0, low: 2)
  static let ada = PeerID(high: 0, low: 3)

  mutating func sitDown(_ client: PeerID, on seat: Seat) {
    seats.sitDown(client, on: seat, in: rink.state)
    inputs[seat] = RinkInput(MalletInput(rink.state[mallet: seat].vector))
  }

  mutating func leave(_ seat: Seat) {
    seats.leave(seat)
    inputs[seat] = nil
  }

  /// Plays ticks, or none while no client is at the table. A request counts in the first tick.
  mutating func play(
    _ ticks: Int, home: RinkInput.Request? = nil, away: RinkInput.Request? = nil
  ) {
    var requests = SeatValues(home, away)
    for _ in 0..<(seats.isEmpty ? 0 : ticks) {
      let set = seats.inputs(in: rink.state)
      let merged = Seat.allCases.map { seat in
        guard let own = inputs[seat] else { return set[seat] }
        let input = RinkInput(own.mallet, request: requests[seat])
        return set[seat].merged(with: ClientSeats.permitted(input))
      }
      requests = SeatValues(nil, nil)
      rink.step(merged.span, events: &events)
    }
  }
}

@Suite struct ClientSeatsTests {
  private static let hold = ClientSeats.holdTicks

  /// A table at which Leo plays home and Zoe plays away.
  private func makeFullTable() -> TwoClientTable {
    var table = TwoClientTable()
    table.sitDown(TwoClientTable.leo, on: .home)
    table.play(10)
    table.sitDown(TwoClientTable.zoe, on: .away)
    table.play(10)
    return table
  }

  @Test func `the first client plays the computer, and the second begins a new match`() {
    var table = TwoClientTable()
    #expect(table.seats.isEmpty)
    table.sitDown(TwoClientTable.leo, on: .home)
    #expect(!table.seats.isEmpty && table.seats.isComputer(.away) && !table.seats.isComputer(.home))
    table.play(1)
    #expect(table.rink.state.match == 1 && table.events == [.matchStarted])
    let before = table.rink.state.awayMallet
    table.play(400)
    #expect(table.rink.state.match == 1)
    #expect(table.rink.state.awayMallet != before)
    table.sitDown(TwoClientTable.zoe, on: .away)
    table.play(1)
    #expect(table.rink.state.match == 2 && table.rink.state.score == Score())
    let place = table.rink.state.awayMallet
    table.play(400)
    #expect(table.rink.state.match == 2)
    // The host gives a client nothing to play.
    #expect(table.rink.state.awayMallet == place)
  }

  @Test func `a client's own request does not prevent the new match`() {
    var table = TwoClientTable()
    table.sitDown(TwoClientTable.leo, on: .home)
    table.play(1, home: .pause)
    #expect(table.rink.state.match == 0 && table.rink.state.pauses == .home)
    table.play(1)
    #expect(table.rink.state.match == 1 && table.rink.state.pauses == [])
  }

  @Test func `a client cannot restart the match`() {
    var table = makeFullTable()
    table.play(2, home: .restart, away: .restart)
    #expect(table.rink.state.match == 2)
    let pause = RinkInput(MalletInput(x: 5, y: 5), request: .pause)
    #expect(ClientSeats.permitted(pause) == pause)
    let restart = RinkInput(MalletInput(x: 5, y: 5), request: .restart)
    #expect(ClientSeats.permitted(restart) == RinkInput(MalletInput(x: 5, y: 5)))
  }

  @Test(arguments: Seat.allCases)
  func `a client who returns in time has the seat and the same match`(seat: Seat) {
    var table = makeFullTable()
    let client = seat == .home ? TwoClientTable.leo : TwoClientTable.zoe
    table.leave(seat)
    table.play(2)
    #expect(table.rink.state.pauses == .of(seat) && !table.seats.isComputer(seat))
    table.play(Self.hold - 3)
    table.sitDown(client, on: seat)
    table.play(2)
    #expect(table.rink.state.pauses == [] && table.rink.state.match == 2)
    table.play(Self.hold)
    #expect(table.rink.state.match == 2)
  }

  @Test func `the pause of a client ends when the client returns, and no pause is repeated`() {
    var table = makeFullTable()
    table.play(2, away: .pause)
    table.leave(.away)
    table.play(5)
    #expect(table.rink.state.pauses == .away)
    table.sitDown(TwoClientTable.zoe, on: .away)
    table.play(3)
    #expect(table.rink.state.pauses == [])
    table.play(2, away: .pause)
    table.play(60)
    #expect(table.rink.state.pauses == .away)
  }

  @Test func `the computer takes over from a client who does not return`() {
    var table = makeFullTable()
    table.leave(.home)
    table.play(Self.hold - 1)
    #expect(!table.seats.isComputer(.home) && table.rink.state.match == 2)
    table.play(2)
    #expect(table.seats.isComputer(.home) && table.rink.state.match == 3)
    #expect(table.rink.state.pauses == [])
    // The client who returns too late begins again.
    table.sitDown(TwoClientTable.leo, on: .home)
    table.play(1)
    #expect(table.rink.state.match == 4)
  }

  @Test func `nobody is awaited while no client is at the table`() {
    var table = makeFullTable()
    table.leave(.home)
    table.play(Self.hold / 2)
    table.leave(.away)
    #expect(table.seats.isEmpty)
    table.play(2 * Self.hold)
    table.sitDown(TwoClientTable.zoe, on: .away)
    table.play(Self.hold - 1)
    #expect(table.rink.state.match == 2 && !table.seats.isComputer(.home))
    table.sitDown(TwoClientTable.leo, on: .home)
    table.play(10)
    #expect(table.rink.state.match == 2 && table.rink.state.pauses == [])
  }

  @Test func `another client does not wait for those who have left`() {
    var table = makeFullTable()
    table.leave(.home)
    table.leave(.away)
    table.sitDown(TwoClientTable.ada, on: .away)
    table.play(2)
    #expect(table.seats.isComputer(.home))
    #expect(table.rink.state.match == 3 && table.rink.state.pauses == [])
  }

  @Test func `the match waits for a client whom no link reaches`() {
    var table = makeFullTable()
    table.seats.setInterrupted(true, .home)
    table.play(2)
    #expect(table.rink.state.pauses == .home)
    table.play(2 * Self.hold)
    #expect(table.rink.state.match == 2)
    table.seats.setInterrupted(false, .home)
    table.play(2)
    #expect(table.rink.state.pauses == [])
    // A pause of the client's own is kept.
    table.play(2, home: .pause)
    table.seats.setInterrupted(true, .home)
    table.play(2)
    table.seats.setInterrupted(false, .home)
    table.play(2)
    #expect(table.rink.state.pauses == .home)
  }

  @Test func `the next match begins after a rest`() {
    var table = makeFullTable()
    var state = table.rink.state
    state.score = Score(home: 7, away: 2)
    state.phase = .matchEnd(winner: .home)
    table.rink = Rink(state)
    table.play(Int(HomeRequests.restTicks))
    #expect(table.rink.state.match == 2)
    table.play(1)
    #expect(table.rink.state.match == 3 && table.rink.state.score == Score())
  }

  @Test func `clients go on with their match at another table, with its score`() {
    var state = makeFullTable().rink.state
    state.score = Score(home: 2, away: 1)
    let (match, score) = (state.match, state.score)
    var table = TwoClientTable()
    table.rink = Rink(state)
    table.seats.expect(SeatValues(TwoClientTable.leo, TwoClientTable.zoe))
    #expect(table.seats.isEmpty && table.seats.isAwaited(.home) && table.seats.isAwaited(.away))
    table.sitDown(TwoClientTable.zoe, on: .away)
    // The match waits for the other one.
    table.play(10)
    #expect(table.rink.state.pauses == .of(.home) && !table.seats.isComputer(.home))
    table.sitDown(TwoClientTable.leo, on: .home)
    table.play(10)
    #expect(!table.rink.state.isPaused)
    #expect(table.rink.state.match == match && table.rink.state.score == score)
  }

  @Test func `a computer player keeps its seat at another table`() {
    var table = TwoClientTable()
    table.rink = makeFullTable().rink
    table.seats.expect(SeatValues(nil, TwoClientTable.zoe))
    #expect(table.seats.isComputer(.home) && table.seats.isAwaited(.away))
    let match = table.rink.state.match
    table.sitDown(TwoClientTable.zoe, on: .away)
    table.play(10)
    #expect(!table.rink.state.isPaused && table.rink.state.match == match)
  }
}
