import CaromCore
import CaromSimulation

/// The fixed step against time: over a day of ticks in memory.
enum RollbackLoop {
  /// How many ticks a day at 60 Hz makes more or less than it should, called unevenly.
  static func drift() -> Int {
    var steps = StepAccumulator(rate: 60, from: .zero)
    var generator = SeededGenerator(seed: 1)
    let end = Instant.zero + .seconds(86_400)
    var now = Instant.zero
    while now < end {
      now = min(end, now + generator.duration(in: .nanoseconds(1) ... .milliseconds(200)))
      _ = steps.advance(to: now)
    }
    return Int(steps.totalSteps) - 60 * 86_400
  }

  /// The longest time that is caught up after a stall, milliseconds.
  static func clamp() -> Double {
    var steps = StepAccumulator(rate: 60, from: .zero)
    return Double(steps.advance(to: .zero + .seconds(60)).due) / 60 * 1_000
  }
}
