import Foundation

/// The most that rollback may cost: exact counts by name, which do not depend on the machine.
struct RollbackThresholds {
  var limits: [String: Double]

  static func read(_ path: String) throws -> RollbackThresholds {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    return RollbackThresholds(limits: try JSONDecoder().decode([String: Double].self, from: data))
  }

  /// One line for each count that is exceeded, or that was not counted.
  func violations(by counts: [String: Double]) -> [String] {
    limits.sorted { $0.key < $1.key }.compactMap { name, limit in
      guard let count = counts[name] else { return "\(name) was not counted" }
      return count <= limit ? nil : "\(name) is \(Report.text(count)), allowed are \(limit)"
    }
  }
}
