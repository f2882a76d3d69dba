/// Something that happened in a step, as far as is known: play what is quick at `predicted`, and
/// what cannot be taken back, like a score, at `confirmed`.
@frozen public enum RollbackEvent<Event: Hashable & Sendable>: Hashable, Sendable {
  /// It happened by what is known so far. It is followed by one of the other two.
  case predicted(Event, Tick)
  /// It did not happen after all: other inputs came than were foretold.
  case retracted(Event, Tick)
  /// It happened, and nothing changes that: told once for each time that it happened.
  case confirmed(Event, Tick)

  /// What happened, or did not.
  public var event: Event {
    switch self {
    case .predicted(let event, _), .retracted(let event, _), .confirmed(let event, _): event
    }
  }

  /// In which tick's step.
  public var tick: Tick {
    switch self {
    case .predicted(_, let tick), .retracted(_, let tick), .confirmed(_, let tick): tick
    }
  }
}
