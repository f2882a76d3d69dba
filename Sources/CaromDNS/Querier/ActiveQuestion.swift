import CaromCore

/// A question that is being asked, with its observers and its query schedule on each link.
struct ActiveQuestion: Sendable {
  /// A request that waits for answers to the question.
  enum Observer: Hashable, Sendable {
    case browse(BrowseID)
    case resolver(ResolveID)
    case monitor(MonitorID)
    case query(QueryID)
    case reconfirmation
  }

  let key: RecordKey
  /// The question's serial number. Queries contain the questions in order of these numbers.
  let order: UInt64
  /// The requests that wait for answers. The question is removed when no observers are left.
  var observers: [Observer] = []
  /// The query schedules, one for each link, in the order in which the links were added.
  var schedules: [QuestionSchedule] = []

  /// Returns whether a unicast response on the link may answer this question.
  func expectsUnicast(on link: UInt32, at now: Instant) -> Bool {
    schedules.contains { $0.link == link && $0.expectsUnicast(at: now) }
  }

  /// Suspends the question after a complete answer arrived on `link`. The question is also
  /// suspended on other links on which its first query has already been sent.
  mutating func answered(on link: UInt32) {
    for index in schedules.indices where schedules[index].link == link || !schedules[index].isFirst
    {
      schedules[index].suspend()
    }
  }

  /// Suspends the question on `link`, where the name's owner denied that the record exists.
  mutating func denied(on link: UInt32) { modify(link) { $0.suspend() } }

  /// Applies `body` to the schedule of `link`, or to all schedules if `link` is nil.
  mutating func modify(_ link: UInt32?, _ body: (inout QuestionSchedule) -> Void) {
    for index in schedules.indices where link == nil || schedules[index].link == link {
      body(&schedules[index])
    }
  }
}
