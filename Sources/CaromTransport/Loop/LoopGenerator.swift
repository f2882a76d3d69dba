import CaromCore

/// The random number generator of a loop: the system's or, on a simulated loop, that of the
/// simulation, so that runs with the same seed are equal.
package struct LoopGenerator: RandomNumberGenerator {
  private let system: (any VirtualSystem)?
  private var generator = SystemRandomNumberGenerator()

  /// Creates the generator of `loop`. On a simulated loop, it is used only on the loop's thread.
  package init(of loop: NetworkLoop) { system = loop.core.system }

  package mutating func next() -> UInt64 { system?.random() ?? generator.next() }
}

extension NetworkLoop {
  /// Whether the loop belongs to a simulation.
  package var isSimulated: Bool { core.system != nil }

  /// The earliest deadline of the loop's timers, or nil if none is armed. Only the simulation that
  /// drives the loop may use this property.
  package var nextTimeout: Instant? { core.timers?.nextDeadline }

  /// Fires the timers that are due. Only the simulation that drives the loop may call this method.
  package func fireTimers() { core.timers?.expire() }
}
