import CaromCore

/// What a datagram waits on top of a link's delay, drawn for each.
///
/// Jitter keeps the order, as a radio cell's queue does: who is held up holds up those behind, so
/// that close datagrams come in clumps. `Reordering`, or an uneven `LinkConditions.delay`, is what
/// lets one overtake another.
public enum Jitter: Hashable, Sendable {
  /// Nothing.
  case none
  /// Evenly drawn, up to that much less or more.
  case uniform(Duration)
  /// Exponentially distributed with that mean: mostly little, now and then much, as on Wi-Fi.
  case exponential(mean: Duration)

  /// Nanoseconds to add to the delay.
  func draw(using generator: inout SeededGenerator) -> Int64 {
    switch self {
    case .none: 0
    case .uniform(let most):
      Int64.random(in: -most.wholeNanoseconds...most.wholeNanoseconds, using: &generator)
    case .exponential(let mean):
      Int64(Double(mean.wholeNanoseconds) * generator.exponential())
    }
  }

  func check(delay: Duration) {
    switch self {
    case .none: break
    case .uniform(let most):
      precondition(most >= .zero && most <= delay, "uniform jitter is at most the delay")
    case .exponential(let mean): precondition(mean >= .zero, "jitter is not negative")
    }
  }
}
