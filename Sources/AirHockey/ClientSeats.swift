import CaromCore
import CaromSimulation

/// The seats of a table at which two clients play each other, and the inputs that the host gives on
/// their behalf. A computer player takes a seat that has no client, so that the first client does
/// not wait for the second.
///
/// A client that leaves is awaited for `holdTicks`, while the match is paused and keeps its score.
/// The match restarts at 0-0 when a new client takes a seat, and when a computer player takes the
/// place of a client that did not return.
package struct ClientSeats: Sendable {
  /// The time for which the seat and the score of a client that has left are kept, in ticks: 10 s.
  /// Ticks count only while the other client is at the table.
  package static let holdTicks = 10 * Preset.ticksPerSecond

  private enum Occupant {
    case computer
    case client(PeerID)
    case awaited(PeerID, ticks: Int)
  }

  private struct Place {
    var occupant = Occupant.computer
    var computer: ComputerPlayer
    /// Whether no link reaches the client.
    var isInterrupted = false
    /// Whether the host has paused the match on behalf of this seat.
    var hasPaused = false

    var isClient: Bool { if case .client = occupant { true } else { false } }
    /// Whether the match waits for the client.
    var needsPause: Bool {
      switch occupant {
      case .computer: false
      case .client: isInterrupted
      case .awaited: true
      }
    }
  }

  private var places: SeatValues<Place>
  private var rest = MatchRest()
  /// The number of the match that is to be followed by a new one at 0-0, or nil if none is.
  private var restartedMatch: UInt16?

  /// Creates the seats of a table without clients. The seed determines how the computer players
  /// play.
  package init(strength: Strength, seed: UInt64) {
    places = SeatValues(
      Place(computer: ComputerPlayer(.home, strength: strength, seed: seed)),
      Place(computer: ComputerPlayer(.away, strength: strength, seed: seed &+ 1)))
  }

  /// Returns a client's input without the request that only the host may make: a restart.
  package static func permitted(_ input: RinkInput) -> RinkInput {
    input.request == .restart ? input.held : input
  }

  /// Whether no client is at the table. The host then lets no tick pass.
  package var isEmpty: Bool { !places.home.isClient && !places.away.isClient }

  /// Returns whether a computer player has the seat.
  package func isComputer(_ seat: Seat) -> Bool {
    if case .computer = places[seat].occupant { true } else { false }
  }

  /// Returns whether the table waits for a seat's client, which has left or which no link reaches.
  package func isAwaited(_ seat: Seat) -> Bool { places[seat].needsPause }

  // MARK: Clients

  /// Gives a seat to a client. `state` is the current state of the match.
  package mutating func sitDown(_ client: PeerID, on seat: Seat, in state: RinkState) {
    if case .awaited(client, _) = places[seat].occupant {
      // Ends the client's own pause, too, because a client that comes back wants to play.
      places[seat].hasPaused = true
    } else {
      restartedMatch = state.match
      if case .awaited = places[seat.opponent].occupant { takeOver(seat.opponent) }
    }
    places[seat].occupant = .client(client)
    places[seat].isInterrupted = false
    if case .awaited(let other, _) = places[seat.opponent].occupant {
      places[seat.opponent].occupant = .awaited(other, ticks: Self.holdTicks)
    }
  }

  /// Keeps the seats for the clients that have played the match at another table; nil for a seat
  /// that a computer player had.
  package mutating func expect(_ clients: SeatValues<PeerID?>) {
    for seat in Seat.allCases {
      guard let client = clients[seat] else { continue }
      places[seat].occupant = .awaited(client, ticks: Self.holdTicks)
    }
  }

  /// Keeps the seat of a client that has left.
  package mutating func leave(_ seat: Seat) {
    guard case .client(let client) = places[seat].occupant else { return }
    places[seat].occupant = .awaited(client, ticks: Self.holdTicks)
    places[seat].isInterrupted = false
  }

  /// Pauses the match on behalf of a client that no link reaches, until a link reaches the client
  /// again.
  package mutating func setInterrupted(_ isInterrupted: Bool, _ seat: Seat) {
    places[seat].isInterrupted = isInterrupted
  }

  private mutating func takeOver(_ seat: Seat) {
    places[seat].occupant = .computer
    places[seat].hasPaused = false
  }

  // MARK: Ticks

  /// Returns the inputs that the host sets for the next tick: whole ones for the computer players,
  /// and for clients the requests on their behalf. `state` is the state before that tick. Call this
  /// method once per tick.
  package mutating func inputs(in state: RinkState) -> SeatValues<RinkInput> {
    for seat in Seat.allCases { countDown(seat, in: state) }
    // A client's own request in the same tick has precedence, so a request is made until it is
    // carried out.
    if state.match != restartedMatch { restartedMatch = nil }
    let isNextDue = rest.isOver(in: state)
    var inputs = SeatValues(input(of: .home, in: state), input(of: .away, in: state))
    if restartedMatch != nil {
      inputs.home = RinkInput(inputs.home.mallet, request: .restart)
    } else if isNextDue, inputs.home.request == nil {
      inputs.home = RinkInput(inputs.home.mallet, request: .startMatch)
    }
    return inputs
  }

  private mutating func countDown(_ seat: Seat, in state: RinkState) {
    guard case .awaited(let client, let ticks) = places[seat].occupant else { return }
    guard ticks <= 1 else {
      places[seat].occupant = .awaited(client, ticks: ticks - 1)
      return
    }
    takeOver(seat)
    restartedMatch = state.match
  }

  private mutating func input(of seat: Seat, in state: RinkState) -> RinkInput {
    guard !isComputer(seat) else { return RinkInput(places[seat].computer.input(for: state)) }
    let isPaused = state.pauses.contains(.of(seat))
    if places[seat].needsPause {
      guard !isPaused else { return RinkInput() }
      places[seat].hasPaused = true
      return RinkInput(nil, request: .pause)
    }
    guard places[seat].hasPaused else { return RinkInput() }
    guard isPaused else {
      places[seat].hasPaused = false
      return RinkInput()
    }
    return RinkInput(nil, request: .resume)
  }
}
