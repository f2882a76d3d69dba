import Foundation

/// A figure of the discovery benchmark, compared with its goal.
struct DiscoveryGoal: Encodable {
  /// The number of the goal, such as "G2".
  var number: String
  /// The measured property.
  var what: String
  var figure: Double
  var unit: String
  /// The largest value that meets the goal.
  var limit: Double
  /// The number of samples.
  var count: Int
  var isMet: Bool

  /// Creates a goal over samples. The figure is computed from the samples that are not `nan`; the
  /// goal is not met if any sample is `nan`.
  init(
    _ number: String, _ what: String, _ samples: [Double], _ unit: String = "ms",
    atMost limit: Double,
    figure: ([Double]) -> Double = median
  ) {
    let valid = samples.filter { !$0.isNaN }
    self.number = number
    self.what = what
    self.figure = valid.isEmpty ? .nan : figure(valid)
    self.unit = unit
    self.limit = limit
    count = samples.count
    isMet = valid.count == samples.count && self.figure <= limit
  }

  /// The goal as one line of text.
  var line: String {
    let head = number.padding(toLength: 4, withPad: " ", startingAt: 0)
    let body = what.padding(toLength: max(62, what.count), withPad: " ", startingAt: 0)
    let value = "\(Report.text(figure)) \(unit)"
    let bound = "<= \(Report.text(limit)) \(unit)"
    return "\(head) \(body) \(value), goal \(bound), n = \(count): \(isMet ? "met" : "NOT MET")"
  }
}

extension [Double] {
  /// Returns the smallest of the samples that at least `percent` percent of the samples do not
  /// exceed.
  func percentile(_ percent: Int) -> Double {
    guard !isEmpty else { return .nan }
    return sorted()[Swift.max((count * percent + 99) / 100, 1) - 1]
  }
}
