import ArgumentParser
import Foundation

/// The largest allowed counts, by name; they are the same on every machine.
enum WorldThresholds {
  /// Prints each count with its limit and throws if one exceeds it.
  static func check(_ counts: [(name: String, count: Double)], _ path: String) throws {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)),
      let limits = try? JSONDecoder().decode([String: Double].self, from: data)
    else {
      throw ValidationError("cannot read thresholds from \(path): name the file with --thresholds")
    }
    var isOver = false
    for (name, count) in counts {
      let limit = limits[name] ?? -1
      print("\(name): \(Report.text(count)), at most \(Report.text(limit)) allowed")
      isOver = isOver || count > limit
    }
    #if DEBUG
      print(Report.debugBuildWarning)
    #endif
    if isOver { throw ExitCode.failure }
  }
}
