#if arch(wasm32)
  /// A page in a browser sends some bytes in each tick, which leave its path almost idle. So it
  /// need not keep its share of a path that other traffic fills.
  enum CompetitiveMode: Sendable {
    var window: Double { switch self {} }
  }

  extension CongestionController {
    mutating func detectCompetition(_ report: Report) -> Bool { false }
    mutating func updateCompete(_ report: Report) {}
  }
#endif
