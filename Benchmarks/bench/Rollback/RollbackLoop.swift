import CaromCore
import CaromSimulation

/// Runs the fixed step in virtual time.
enum RollbackLoop {
  /// Returns by how many the ticks of a day at 60 Hz exceed their nominal number, when the
  /// accumulator is called at irregular times.
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

  /// Returns the longest time that is made up for after a stall, in milliseconds.
  static func clamp() -> Double {
    var steps = StepAccumulator(rate: 60, from: .zero)
    return Double(steps.advance(to: .zero + .seconds(60)).due) / 60 * 1_000
  }
}
