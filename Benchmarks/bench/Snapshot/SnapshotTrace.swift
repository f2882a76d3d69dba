import CaromCore
import CaromSimulation

/// What a scene's entities do, tick by tick.
struct SnapshotTrace {
  let schema: EntitySchema
  let hertz: Int
  var frames: [EntityTable] = []
}

/// Draws that follow a bell curve, from a seed.
struct BellCurve {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Evenly from 0 to 1.
  mutating func even() -> Double { Double.random(in: 0..<1, using: &generator) }

  /// With a standard deviation of 1, nearly: the sum of twelve even draws.
  mutating func draw() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + even() } }
}
