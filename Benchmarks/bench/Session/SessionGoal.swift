import Foundation

/// A figure of ours beside its goal, and beside the best peer of the same run.
struct SessionGoal: Encodable {
  /// Which way is better.
  enum Bound: String, Encodable {
    case atMost, atLeast
  }

  /// What is measured.
  var what: String
  var figure: Double
  var unit: String
  var bound: Bound
  var limit: Double
  /// Who does best of the others.
  var peer: String?
  var peerFigure: Double?

  init(
    _ what: String, _ figure: Double, _ unit: String, _ bound: Bound, _ limit: Double,
    beside peers: [(name: String, figure: Double)] = []
  ) {
    self.what = what
    self.figure = figure
    self.unit = unit
    self.bound = bound
    self.limit = limit
    let able = peers.filter { $0.figure.isFinite }
    let best =
      bound == .atMost ? able.min { $0.figure < $1.figure } : able.max { $0.figure < $1.figure }
    peer = best?.name
    peerFigure = best?.figure
  }

  var isMet: Bool { bound == .atMost ? figure <= limit : figure >= limit }

  /// One line for people.
  var line: String {
    let body = what.padding(toLength: max(54, what.count), withPad: " ", startingAt: 0)
    let sign = bound == .atMost ? "<=" : ">="
    let verdict = figure.isNaN ? "NOT MEASURED" : isMet ? "met" : "NOT MET"
    var text =
      "\(body) \(Report.text(figure)) \(unit), goal \(sign) \(Report.text(limit)): \(verdict)"
    if let peer, let peerFigure {
      text +=
        "; \(peer) \(Report.text(peerFigure)), ours by that \(Report.text(figure / peerFigure))"
    }
    return text
  }
}
