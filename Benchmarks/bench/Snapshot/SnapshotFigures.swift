/// The sizes of one scene's snapshots, and what they took.
struct SnapshotFigures {
  var hertz: Int
  /// Bytes of each snapshot once acknowledgements come.
  var sizes: [Int] = []
  /// Entities in each.
  var entities = 0
  var encodeNanoseconds: UInt64 = 0
  var decodeNanoseconds: UInt64 = 0
  /// Of the heap, by both sides.
  var allocations: UInt64 = 0
  /// Snapshots that were timed.
  var timed = 0

  var mean: Double { Double(sizes.reduce(0, +)) / Double(max(sizes.count, 1)) }

  func percentile(_ percent: Int) -> Double { sizes.map(Double.init).percentile(percent) }

  var largest: Double { Double(sizes.max() ?? 0) }

  /// Payload, kbit/s.
  var rate: Double { 8 * mean * Double(hertz) / 1_000 }

  var bitsPerEntity: Double { 8 * mean / Double(max(entities, 1)) }

  /// kbit/s of IP version 4 with so many bytes around each snapshot.
  func rate(around bytes: Double) -> Double {
    8 * (mean + bytes) * Double(hertz) / 1_000
  }

  var encodePerEntity: Double {
    Double(encodeNanoseconds) / Double(max(timed * entities, 1))
  }

  var decodePerEntity: Double {
    Double(decodeNanoseconds) / Double(max(timed * entities, 1))
  }
}
