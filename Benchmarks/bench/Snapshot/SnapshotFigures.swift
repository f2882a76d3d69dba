/// The sizes and times of one scene's snapshots.
struct SnapshotFigures {
  var hertz: Int
  /// The bytes of each snapshot after the first acknowledgement.
  var sizes: [Int] = []
  /// The number of entities in each snapshot.
  var entities = 0
  var encodeNanoseconds: UInt64 = 0
  var decodeNanoseconds: UInt64 = 0
  /// The heap allocations of both sides.
  var allocations: UInt64 = 0
  /// The number of snapshots that were timed.
  var timed = 0

  var mean: Double { Double(sizes.reduce(0, +)) / Double(max(sizes.count, 1)) }

  func percentile(_ percent: Int) -> Double { sizes.map(Double.init).percentile(percent) }

  var largest: Double { Double(sizes.max() ?? 0) }

  /// The rate of the payload, in kbit/s.
  var rate: Double { 8 * mean * Double(hertz) / 1_000 }

  var bitsPerEntity: Double { 8 * mean / Double(max(entities, 1)) }

  /// Returns the rate in kbit/s, if headers add the given number of bytes to each snapshot.
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
