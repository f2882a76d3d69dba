import CaromCore

/// One question that somebody wants answered: a series of queries on each link.
struct ActiveQuestion: Sendable {
  /// Who wants the answer.
  enum Watcher: Hashable, Sendable {
    case browse(BrowseID)
    case resolver(ResolveID)
    case monitor(MonitorID)
    case query(QueryID)
    case doubt
  }

  let key: RecordKey
  /// In which order inquiries were opened: questions stand in that order.
  let order: UInt64
  /// Without any it is forgotten.
  var watchers: [Watcher] = []
  /// One a link, in the order in which links came.
  var series: [QuestionSchedule] = []

  /// Whether a unicast answer on the link belongs to a question of ours.
  func expectsUnicast(on link: UInt32, at now: Instant) -> Bool {
    series.contains { $0.link == link && $0.expectsUnicast(at: now) }
  }

  /// The whole answer came in by a link. The others have asked too by then, or do so once.
  mutating func answered(on link: UInt32) {
    for index in series.indices where series[index].link == link || !series[index].isFirst {
      series[index].rest()
    }
  }

  /// The host that owns the name has no such record.
  mutating func denied(on link: UInt32) { modify(link) { $0.rest() } }

  /// Calls `body` for the series on a link, or for every series.
  mutating func modify(_ link: UInt32?, _ body: (inout QuestionSchedule) -> Void) {
    for index in series.indices where link == nil || series[index].link == link {
      body(&series[index])
    }
  }
}
