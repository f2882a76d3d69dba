import Foundation

/// A figure beside the goal that it has to meet.
struct DiscoveryGoal: Encodable {
  /// How the project numbers it: "G2".
  var number: String
  /// What is measured.
  var what: String
  var figure: Double
  var unit: String
  /// The most that is allowed.
  var limit: Double
  /// Samples behind the figure.
  var count: Int
  var isMet: Bool

  /// A goal over samples: `figure` of those that came, and failed where one is `nan`.
  init(
    _ number: String, _ what: String, _ samples: [Double], _ unit: String = "ms",
    atMost limit: Double,
    figure: ([Double]) -> Double = median
  ) {
    let came = samples.filter { !$0.isNaN }
    self.number = number
    self.what = what
    self.figure = came.isEmpty ? .nan : figure(came)
    self.unit = unit
    self.limit = limit
    count = samples.count
    isMet = came.count == samples.count && self.figure <= limit
  }

  /// One line for people.
  var line: String {
    let head = number.padding(toLength: 4, withPad: " ", startingAt: 0)
    let body = what.padding(toLength: max(62, what.count), withPad: " ", startingAt: 0)
    let value = "\(Report.text(figure)) \(unit)"
    let bound = "<= \(Report.text(limit)) \(unit)"
    return "\(head) \(body) \(value), goal \(bound), n = \(count): \(isMet ? "met" : "NOT MET")"
  }
}

extension [Double] {
  /// The smallest sample that `percent` of all do not exceed.
  func percentile(_ percent: Int) -> Double {
    guard !isEmpty else { return .nan }
    return sorted()[Swift.max((count * percent + 99) / 100, 1) - 1]
  }
}
