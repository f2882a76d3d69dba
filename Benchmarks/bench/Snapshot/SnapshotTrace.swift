import CaromCore
import CaromSimulation

/// The entities of a scene in every tick.
struct SnapshotTrace {
  let schema: EntitySchema
  let hertz: Int
  var frames: [EntityTable] = []
}

/// A seeded generator of approximately normal numbers.
struct BellCurve {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Returns a uniformly distributed number from 0 to 1.
  mutating func even() -> Double { Double.random(in: 0..<1, using: &generator) }

  /// Returns an approximately normal number with a standard deviation of 1: the sum of twelve
  /// uniform ones.
  mutating func draw() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + even() } }
}
