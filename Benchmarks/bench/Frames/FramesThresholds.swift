import Foundation

/// The most that a match may cost a tick: exact counts, which do not depend on the machine.
struct FramesThresholds: Codable {
  /// The counts of one simulation.
  struct Limits: Codable {
    var bytesDown: Double
    var bytesUp: Double
    var allocations: Double
  }

  /// By simulation.
  var simulations: [String: Limits]

  static func read(_ path: String) throws -> FramesThresholds {
    try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// One line for each count that is exceeded.
  func violations(by figures: FramesFigures, of simulation: String) -> [String] {
    guard let limits = simulations[simulation] else {
      return ["there is no threshold for \(simulation)"]
    }
    let counts = [
      ("bytes down", figures.bytesDown, limits.bytesDown),
      ("bytes up", figures.bytesUp, limits.bytesUp),
      ("allocations", figures.allocations, limits.allocations),
    ]
    return counts.filter { $0.1 > $0.2 }.map { name, value, limit in
      let value = String(format: "%.2f", value)
      return "\(simulation): \(value) \(name) a match-tick, allowed are \(limit)"
    }
  }
}

extension FramesFigures {
  /// One line with the exact counts.
  func counts(of simulation: String) -> String {
    let values = [bytesDown, bytesUp, allocations].map { String(format: "%.2f", $0) }
    return "\(simulation): a match-tick takes \(values[0]) bytes down, \(values[1]) bytes up, "
      + "\(values[2]) allocations: within the thresholds"
  }
}
