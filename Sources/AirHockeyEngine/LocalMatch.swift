import AirHockey
import CaromCore
import CaromPhysics
import CaromSimulation
import WebEngine

/// A match in one page without a network: between two people at one screen, a person and the
/// computer, or two computer players.
final class LocalMatch {
  /// The state of the match.
  private(set) var rink = Rink()
  /// What has happened since the last poll.
  var events = EventList<EngineEvent>()
  /// The state before the last tick, between which and `rink` the page draws.
  private var previous: RinkState
  /// The requests of the people at the screen. One of each seat is carried out in a tick.
  private var requests = SeatValues<[RinkInput.Request]>([], [])
  private var computers: SeatValues<ComputerPlayer?>
  private var steps: StepAccumulator
  private var happened: [RinkEvent] = []

  /// Creates a match that begins at `now`. The seats without a computer player are people's.
  init(home: ComputerPlayer?, away: ComputerPlayer?, at now: Instant) {
    computers = SeatValues(home, away)
    steps = StepAccumulator(rate: Preset.ticksPerSecond, from: now)
    previous = rink.state
  }

  /// The seats of the people at the screen. Without any, the computer players begin the next match
  /// when one is over.
  private var people: [Seat] { Seat.allCases.filter { computers[$0] == nil } }

  /// Adds a request of the person in a seat.
  func add(_ request: RinkInput.Request, of seat: Seat) { requests[seat].append(request) }

  /// Plays the ticks that have become due, and returns their number. After a standstill, at most
  /// the ticks of a quarter of a second are. `targets` are where the people at the screen want
  /// their mallets; nil leaves a mallet where it is.
  func step(towards targets: SeatValues<MalletInput?>, at now: Instant) -> Int {
    let due = steps.advance(to: now).due
    for _ in 0..<due {
      let inputs = [input(.home, targets), input(.away, targets)]
      previous = rink.state
      happened.removeAll(keepingCapacity: true)
      rink.step(inputs.span, events: &happened)
      for event in happened { events.append(.game(event)) }
    }
    return due
  }

  private func input(_ seat: Seat, _ targets: SeatValues<MalletInput?>) -> RinkInput {
    let computed = computers[seat]?.input(for: rink.state)
    let mallet = computed ?? targets[seat] ?? MalletInput(rink.state[mallet: seat].vector)
    var request = requests[seat].isEmpty ? nil : requests[seat].removeFirst()
    if seat == .home, people.isEmpty, case .matchEnd = rink.state.phase { request = .startMatch }
    return RinkInput(mallet, request: request)
  }

  /// Returns the state to draw at `now`.
  func shown(at now: Instant) -> RinkState {
    rink.state.drawn(from: previous, steps.fraction(at: now), people: people)
  }
}
