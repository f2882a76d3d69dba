import CaromCore
import CaromSimulation
import Foundation

/// A thousand walkers on 500 x 500 m with speeds of at most 6 m/s, who alternate between straight
/// lines and bends. The lattice is 1 cm, and the heading has 256 directions.
struct WorldCrowd {
  static let side = 500.0
  static let schema = EntitySchema(
    .position(0...500, step: 0.01), .position(0...500, step: 0.01), .angle(bits: 8))

  fileprivate struct Walker {
    var x: Double
    var y: Double
    var heading: Double
    var speed: Double
    /// The rate of turn, in radians a second.
    var turn = 0.0
    /// The seconds until the rate of turn changes.
    var rest = 0.0
  }

  private var walkers: [Walker]
  private var generator: SeededGenerator
  private let step: Double

  init(count: Int = 1_000, hertz: Int = 60, seed: UInt64 = 1) {
    var generator = SeededGenerator(seed: seed)
    step = 1 / Double(hertz)
    walkers = (0..<count).map { _ in
      Walker(
        x: .random(in: 0...Self.side, using: &generator),
        y: .random(in: 0...Self.side, using: &generator),
        heading: .random(in: 0...2 * .pi, using: &generator),
        speed: Self.speed(Double.random(in: 0...1, using: &generator)))
    }
    self.generator = generator
  }

  /// Returns a walker's speed in m/s for a uniform number from 0 to 1; only a few walkers are as
  /// fast as 6 m/s.
  private static func speed(_ part: Double) -> Double { 0.2 + 5.8 * part * part.squareRoot() }

  var count: Int { walkers.count }

  /// Advances all walkers by one tick.
  mutating func advance() {
    for index in walkers.indices {
      walkers[index].advance(step, &generator)
    }
  }

  /// Returns the frames of the whole crowd over `ticks` ticks.
  static func trace(ticks: Int, seed: UInt64 = 1) -> SnapshotTrace {
    var crowd = WorldCrowd(seed: seed)
    var trace = SnapshotTrace(schema: schema, hertz: 60)
    for _ in 0..<ticks {
      crowd.advance()
      var table = EntityTable(schema: schema)
      for index in 0..<crowd.count { table.append(UInt32(index), crowd.values(index)) }
      trace.frames.append(table)
    }
    return trace
  }

  /// Returns the quantized values of a walker.
  func values(_ index: Int) -> [Int64] {
    let walker = walkers[index]
    let fields = Self.schema.fields
    return [
      fields[0].quantized(walker.x), fields[1].quantized(walker.y),
      fields[2].quantized(walker.heading),
    ]
  }

  func place(_ index: Int) -> (x: Double, y: Double) { (walkers[index].x, walkers[index].y) }
}

extension WorldCrowd.Walker {
  fileprivate mutating func advance(_ step: Double, _ generator: inout SeededGenerator) {
    rest -= step
    if rest <= 0 {
      let bends = turn == 0 && Double.random(in: 0..<1, using: &generator) < 0.8
      turn = bends ? .random(in: -5...5, using: &generator) : 0
      let seconds = bends ? 0.1...0.6 : 0.15...0.9
      rest = .random(in: seconds, using: &generator)
    }
    heading += turn * step
    x += speed * cos(heading) * step
    y += speed * sin(heading) * step
    if x < 0 || x > WorldCrowd.side {
      heading = .pi - heading
      x = min(max(x, 0), WorldCrowd.side)
    }
    if y < 0 || y > WorldCrowd.side {
      heading = -heading
      y = min(max(y, 0), WorldCrowd.side)
    }
  }
}
