import CaromCore
import CaromSimulation

/// The cost of simpler encodings for the same scene, to compare with: bits for each entity if one
/// bit tells whether it changed since the baseline, and only changed entities are sent.
enum SimpleEncodings {
  /// Returns the bits for each entity if each difference is a variable-length integer in whole
  /// bytes.
  static func bytes(_ trace: SnapshotTrace, delay: Int) -> Double {
    bits(trace, delay) { 8 * Double(VarInt.length(of: VarInt.zigZag($0))) }
  }

  /// Returns the bits for each entity if each difference has one of two sizes, which are the best
  /// for the scene, or else the whole value is sent, as Gaffer on Games does.
  static func twoLevels(_ trace: SnapshotTrace, delay: Int) -> Double {
    let whole = Double(Int.bitWidth - (trace.schema.fields[0].upperBound).leadingZeroBitCount)
    var best = Double.infinity
    for small in 2...9 {
      for large in small + 1...14 {
        let sum = bits(trace, delay) { difference in
          let magnitude = Int64(difference.magnitude)
          if magnitude < 1 << (small - 1) { return Double(1 + small) }
          return magnitude < 1 << (large - 1) ? Double(2 + large) : 2 + whole
        }
        best = min(best, sum)
      }
    }
    return best
  }

  /// Returns the mean number of bits for each entity over a sample of the frames.
  private static func bits(
    _ trace: SnapshotTrace, _ delay: Int, _ cost: (Int64) -> Double
  ) -> Double {
    var sum = 0.0
    var count = 0
    for index in stride(from: delay + SnapshotRun.warmUp, to: trace.frames.count, by: 29) {
      let frame = trace.frames[index]
      let base = trace.frames[index - delay]
      let fields = trace.schema.fields.count
      for start in stride(from: 0, to: frame.values.count, by: fields) {
        let differences = (start..<start + fields).map { frame.values[$0] - base.values[$0] }
        count += 1
        sum += 1
        guard differences.contains(where: { $0 != 0 }) else { continue }
        sum += differences.reduce(0) { $0 + cost($1) }
      }
    }
    return sum / Double(max(count, 1))
  }
}
