import Foundation

/// The largest allowed cost of a match's tick, in exact counts, which do not depend on the machine.
struct FramesThresholds: Codable {
  /// The limits of one simulation.
  struct Limits: Codable {
    var bytesDown: Double
    var bytesUp: Double
    var allocations: Double
  }

  /// The limits of each simulation, by its name on the command line.
  var simulations: [String: Limits]

  static func read(_ path: String) throws -> FramesThresholds {
    try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Returns one line for each count that exceeds its limit.
  func violations(by figures: FramesFigures, of simulation: String) -> [String] {
    guard let limits = simulations[simulation] else {
      return ["no thresholds for \(simulation): add them to the thresholds file"]
    }
    let counts = [
      ("bytes down", figures.bytesDown, limits.bytesDown),
      ("bytes up", figures.bytesUp, limits.bytesUp),
      ("allocations", figures.allocations, limits.allocations),
    ]
    return counts.filter { $0.1 > $0.2 }.map { name, value, limit in
      let value = String(format: "%.2f", value)
      return "\(simulation): \(value) \(name) a frame, at most \(limit) allowed"
    }
  }
}

extension FramesFigures {
  /// Returns a line with the exact counts.
  func counts(of simulation: String) -> String {
    let values = [bytesDown, bytesUp, allocations].map { String(format: "%.2f", $0) }
    return "\(simulation): a frame takes \(values[0]) bytes down, \(values[1]) bytes up, "
      + "\(values[2]) allocations: within the thresholds"
  }
}
