/// An event that a simulation step emitted, and how certain the event is. React to `predicted` with
/// quick and reversible effects, such as a sound, and to `confirmed` with final ones, such as a
/// score.
@frozen public enum RollbackEvent<Event: Hashable & Sendable>: Hashable, Sendable {
  /// The event happened according to the predicted inputs. It is later retracted or confirmed.
  case predicted(Event, Tick)
  /// The predicted event did not happen, because the actual inputs differ from the predicted ones.
  case retracted(Event, Tick)
  /// The event happened, and no later input can change that. Emitted exactly once per event.
  case confirmed(Event, Tick)

  /// The event that the simulation step emitted.
  public var event: Event {
    switch self {
    case .predicted(let event, _), .retracted(let event, _), .confirmed(let event, _): event
    }
  }

  /// The tick in whose step the event happened.
  public var tick: Tick {
    switch self {
    case .predicted(_, let tick), .retracted(_, let tick), .confirmed(_, let tick): tick
    }
  }
}
