import CaromCore
import CaromSimulation

/// The host's side of a table: the one authority on puck, score and order of events.
///
/// The host plays `home`, the guest `away`. Of what the guest claims only its wanted mallet place
/// and its requests count.
public struct HostedMatch: Sendable {
  /// How long a finished match stays on the table before the next begins: 3 s.
  public static let restTicks = 3 * UInt64(Preset.ticksPerSecond)

  /// The match.
  public private(set) var rink: Rink
  /// The newest input of the guest; its mallet rests until the first.
  public private(set) var guestInput: GuestInput?
  private var events: [TableEvent] = []
  private var endedAt: Tick?

  /// A table before its first face-off; that its match begins is the first event.
  public init(match: UInt16 = 1) {
    rink = Rink(match: match)
    note(.matchStarted)
  }

  /// The match as it stands.
  public var state: RinkState { rink.state }

  /// Takes a guest's input; one that is not newer than the last is dropped.
  public mutating func receive(_ input: GuestInput) {
    if let guestInput, input.tick <= guestInput.tick { return }
    guestInput = input
  }

  /// Carries out a player's command; what it changes becomes an event.
  public mutating func apply(_ command: RinkCommand) {
    guard rink.apply(command) else { return }
    switch command {
    case .pause(let seat): note(.paused(seat))
    case .resume(let seat): note(.resumed(seat))
    case .startMatch:
      endedAt = nil
      note(.matchStarted)
    }
  }

  /// Gives the away seat to somebody else: a new match at 0-0.
  public mutating func seatGuest() {
    events = []  // whoever left before they were told took them along
    guestInput = nil
    endedAt = nil
    rink.startMatch()
    note(.matchStarted)
  }

  /// The same guest came back: its inputs count from its new beginning, and it holds nothing.
  public mutating func welcomeBack() {
    guestInput = nil
    apply(.resume(.away))
  }

  /// Makes one tick; what happened waits in `takeEvents`.
  public mutating func step(home: MalletInput) -> RinkEvents {
    let away = guestInput?.mallet ?? MalletInput(state[mallet: .away].vector)
    let happened = rink.step(home: home, away: away)
    if let scorer = happened.goal { note(.goal(scorer)) }
    if let winner = happened.winner {
      note(.matchEnded(winner: winner))
      endedAt = state.tick
    }
    if let endedAt, !state.isPaused, state.tick.rawValue >= endedAt.rawValue + Self.restTicks {
      apply(.startMatch(.home))
    }
    return happened
  }

  /// The events since the last call, in order: each is to be sent once.
  public mutating func takeEvents() -> [TableEvent] {
    defer { events = [] }
    return events
  }

  /// What the guest is to see of this tick.
  public func tableState(at clock: Instant) -> TableState {
    TableState(clock: clock, inputTick: guestInput?.tick ?? .zero, rink: state)
  }

  /// The last event of a session.
  public var ending: TableEvent {
    TableEvent(tick: state.tick, kind: .sessionEnded, match: state.match, score: state.score)
  }

  private mutating func note(_ kind: TableEvent.Kind) {
    events.append(
      TableEvent(tick: state.tick, kind: kind, match: state.match, score: state.score))
  }
}
