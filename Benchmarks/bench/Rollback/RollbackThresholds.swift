import Foundation

/// The largest allowed costs of rollback, as exact counts by name, which do not depend on the
/// machine.
struct RollbackThresholds {
  var limits: [String: Double]

  static func read(_ path: String) throws -> RollbackThresholds {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    return RollbackThresholds(limits: try JSONDecoder().decode([String: Double].self, from: data))
  }

  /// Returns one line for each count that exceeds its limit or was not measured.
  func violations(by counts: [String: Double]) -> [String] {
    limits.sorted { $0.key < $1.key }.compactMap { name, limit in
      guard let count = counts[name] else {
        return "\(name) was not measured: remove it from the thresholds file or measure it"
      }
      return count <= limit ? nil : "\(name) is \(Report.text(count)), at most \(limit) allowed"
    }
  }
}
