#if arch(wasm32)
  /// A page in a browser sends only a few bytes in each tick, which leave its path almost idle. So
  /// it backs off when a queue persists, and does not try to keep its share of a path that other
  /// traffic fills.
  enum CompetitiveMode: Sendable {
    var window: Double { switch self {} }
  }

  extension CongestionController {
    mutating func enterCompete(window: Double, isCertain: Bool, _ report: Report) -> Bool { false }
    mutating func updateCompete(_ report: Report) {}
  }
#endif
