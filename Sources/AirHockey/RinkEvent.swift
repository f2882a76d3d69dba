/// What a step of a match in step makes known.
public enum RinkEvent: Hashable, Sendable {
  /// The puck touched something; how loud it was, whole metres a second.
  case touch(UInt8, impact: UInt8)
  /// Somebody scored.
  case goal(Seat)
  /// Somebody kept the puck too long.
  case foul(Seat)
  /// The puck was placed before somebody.
  case serve(Seat)
  /// The puck was released.
  case faceOff
  /// Somebody won the match.
  case won(Seat)
  /// Somebody holds the match.
  case paused(Seat)
  /// Somebody no longer holds it.
  case resumed(Seat)
  /// The next match began.
  case matchStarted
}

extension RinkEvents {
  /// The same, one by one.
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
