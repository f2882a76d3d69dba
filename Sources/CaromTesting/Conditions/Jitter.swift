import CaromCore

/// Random variation of a link's delay, drawn for each datagram.
///
/// Jitter preserves the order of datagrams, as the queue of a radio cell does: a delayed datagram
/// also delays the ones behind it, so that datagrams sent close together arrive in clumps. To
/// reorder datagrams, use `Reordering` or a range in `LinkConditions.delay`.
public enum Jitter: Hashable, Sendable {
  /// No variation.
  case none
  /// A variation uniformly distributed between minus and plus the given duration.
  case uniform(Duration)
  /// An exponentially distributed variation with the given mean: mostly small and occasionally
  /// large, as on Wi-Fi.
  case exponential(mean: Duration)

  /// Returns a random duration in nanoseconds, to be added to the delay. It can be negative.
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
      precondition(most >= .zero && most <= delay, "uniform jitter must not exceed the delay")
    case .exponential(let mean): precondition(mean >= .zero, "jitter must not be negative")
    }
  }
}
