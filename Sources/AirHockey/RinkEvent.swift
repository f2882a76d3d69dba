/// An event that occurred in a simulated tick.
public enum RinkEvent: Hashable, Sendable {
  /// The puck touched a rail, a post or a mallet. The first value holds the bits of
  /// `RinkEvents.Touches`; `impact` is the largest closing speed in whole meters per second.
  case touch(UInt8, impact: UInt8)
  /// The player in this seat scored a goal.
  case goal(Seat)
  /// The player in this seat kept the puck too long.
  case foul(Seat)
  /// The puck was placed in front of the player in this seat for a serve.
  case serve(Seat)
  /// The puck was released for a face-off.
  case faceOff
  /// The player in this seat won the match.
  case won(Seat)
  /// The player in this seat paused the match.
  case paused(Seat)
  /// The player in this seat ended their pause.
  case resumed(Seat)
  /// The next match began.
  case matchStarted
}

extension RinkEvents {
  /// Appends each of these events to a list.
  func append(to list: inout [RinkEvent]) {
    if !touches.isEmpty {
      list.append(.touch(touches.rawValue, impact: UInt8(min(max(impact, 0), 255))))
    }
    if let goal { list.append(.goal(goal)) }
    if let foul { list.append(.foul(foul)) }
    if let serve { list.append(.serve(serve)) }
    if faceOff { list.append(.faceOff) }
    if let winner { list.append(.won(winner)) }
  }
}
