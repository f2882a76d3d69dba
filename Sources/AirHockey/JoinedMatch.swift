import CaromCore
import CaromSimulation

/// The guest's side of a table: the host's newest state, and its own mallet without delay.
public struct JoinedMatch: Sendable {
  /// The newest state that came; `nil` before the first.
  public private(set) var latest: TableState?
  /// The score of the newest state or event; they may come in another order than they left.
  public private(set) var score = Score()
  private var scoreTick = Tick.zero
  /// How many of this guest's ticks were made.
  public private(set) var tick = Tick.zero
  private var mallet: LatticePoint
  /// How many states came that were not newer than the last.
  public private(set) var staleStates = 0

  /// A guest that has seen nothing yet.
  public init() { mallet = RinkState()[mallet: .away] }

  /// Takes a state; `false` for one that is not newer than the last.
  public mutating func receive(_ state: TableState) -> Bool {
    if let latest, state.rink.tick <= latest.rink.tick {
      staleStates += 1
      return false
    }
    latest = state
    // An event of the same tick holds all that the state does, or more.
    if state.rink.tick > scoreTick { (score, scoreTick) = (state.rink.score, state.rink.tick) }
    return true
  }

  /// Takes an event; its score counts from its tick on.
  public mutating func receive(_ event: TableEvent) {
    if event.tick >= scoreTick { (score, scoreTick) = (event.score, event.tick) }
  }

  /// Makes one of the guest's ticks: the own mallet moves at once, as the host will move it, and
  /// the input is to be sent.
  public mutating func step(_ input: MalletInput, at clock: Instant) -> GuestInput {
    tick = tick.next
    if var rink = latest.map({ Rink(own(in: $0.rink)) }) {
      _ = rink.step(home: MalletInput(rink.state[mallet: .home].vector), away: input)
      mallet = rink.state[mallet: .away]
    }
    return GuestInput(tick: tick, clock: clock, mallet: input)
  }

  /// The table as this guest sees it: the newest state with its own mallet in it.
  public var view: RinkState? { latest.map { own(in: $0.rink) } }

  private func own(in state: RinkState) -> RinkState {
    var state = state
    state[mallet: .away] = mallet
    return state
  }
}
