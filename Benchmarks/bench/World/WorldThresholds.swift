import ArgumentParser
import Foundation

/// The most that counts may be, by their names: the same on every machine.
enum WorldThresholds {
  /// Prints each count beside its limit, and fails where one is over it.
  static func check(_ counts: [(name: String, count: Double)], _ path: String) throws {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)),
      let limits = try? JSONDecoder().decode([String: Double].self, from: data)
    else {
      throw ValidationError("no thresholds in \(path): name their file with --thresholds")
    }
    var isOver = false
    for (name, count) in counts {
      let limit = limits[name] ?? -1
      print("\(name): \(Report.text(count)), allowed are \(Report.text(limit))")
      isOver = isOver || count > limit
    }
    #if DEBUG
      print("built without optimisation: the counts are not those of a release")
    #endif
    if isOver { throw ExitCode.failure }
  }
}
