import Foundation

/// One of Carom's figures, compared with its goal and with the best peer of the same run.
struct BenchmarkGoal: Encodable {
  /// Whether a small or a large value is better.
  enum Bound: String, Encodable {
    case atMost, atLeast
  }

  /// The measured property.
  var what: String
  var figure: Double
  var unit: String
  var bound: Bound
  var limit: Double
  /// The name of the best of the other implementations, or nil if none was measured.
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

  /// The goal as one line of text.
  var line: String {
    let body = what.padding(toLength: max(54, what.count), withPad: " ", startingAt: 0)
    let sign = bound == .atMost ? "<=" : ">="
    let verdict = figure.isNaN ? "NOT MEASURED" : isMet ? "met" : "NOT MET"
    var text =
      "\(body) \(Report.text(figure)) \(unit), goal \(sign) \(Report.text(limit)): \(verdict)"
    if let peer, let peerFigure {
      text +=
        "; \(peer) \(Report.text(peerFigure)), ratio \(Report.text(figure / peerFigure))"
    }
    return text
  }
}
