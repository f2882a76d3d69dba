import CaromCore
import CaromSimulation

/// Generates the initial model table of snapshots from matches, a crowd and a plough that no
/// measurement uses.
enum SnapshotTrainer {
  /// Returns the Swift source of the table.
  static func table() -> String {
    var counted: [(training: SnapshotTraining, weight: Double)] = []
    for (hertz, delay) in [(60, 3), (60, 4), (60, 7), (120, 7), (120, 13)] {
      progress("hockey at \(hertz) Hz, \(delay) ticks")
      let trace = SnapshotHockey.trace(hertz: hertz, seconds: 300, seed: 1_000 + UInt64(delay))
      counted.append((SnapshotRun.train(trace, delay: delay), 1))
      counted.append((SnapshotRun.train(SnapshotHockey.opponent(of: trace), delay: delay), 0.5))
    }
    for delay in [3, 4, 6] {
      progress("crowd, \(delay) ticks")
      let trace = WorldCrowd.trace(ticks: 300, seed: 80 + UInt64(delay))
      counted.append((SnapshotRun.train(trace, delay: delay), 0.3))
    }
    progress("crowd by tiers")
    for training in WorldRun.train(seed: 90) { counted.append((training, 0.5)) }
    progress("plough")
    var trace = WorldPlough.trace(ticks: 5_400)
    trace.frames.removeFirst(1_800)
    counted.append((SnapshotRun.train(trace, delay: 6), 0.5))
    return source(SnapshotTraining.tables(counted))
  }

  private static func source(_ tables: [[UInt16]]) -> String {
    var text = """
      /// The initial probabilities of the models, in units of 2^-16. `bench snapshot --train` \
      generates
      /// them.
      enum SnapshotModelTable {

      """
    for (name, table) in zip(["common", "linear", "held"], tables) {
      text += "  static let \(name): [UInt16] = [\n"
      var line = "   "
      for value in table {
        let next = " \(value),"
        if line.count + next.count > 100 {
          text += line + "\n"
          line = "   "
        }
        line += next
      }
      text += line + "\n  ]\n"
    }
    return text + "}\n"
  }
}
