import CaromCore

/// The schedule of one question's queries on one link, at increasing intervals (RFC 6762 §5.2).
struct QuestionSchedule: Sendable {
  /// The range of the random delay before the first query.
  static let firstDelay: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(120)
  /// The interval between the first two queries. Each further query doubles the interval, up to
  /// `longestInterval`.
  static let firstInterval = Duration.seconds(1)
  /// The longest interval between two queries.
  static let longestInterval = Duration.seconds(3600)
  /// The time for which a unicast response is accepted after a query that asked for one (RFC 6762
  /// §6).
  static let unicastWindow = Duration.seconds(2)

  let link: UInt32
  /// The time of the next query, or nil while the question is suspended.
  private(set) var next: Instant?
  /// Whether the next query is the first since the question started on this link.
  private(set) var isFirst = true
  /// The value of `next` for which `ActiveQuestions` has armed a timer, or nil if it has armed
  /// none.
  var scheduled: Instant?
  /// Whether the complete answer is cached, so that only refreshes are sent.
  private var isSuspended = false
  private var interval = QuestionSchedule.firstInterval
  private var lastAsked: Instant?
  private var askedUnicast: Instant?

  init(link: UInt32, start: Instant) {
    self.link = link
    next = start
  }

  /// Updates the schedule after a query has been sent.
  mutating func markAsked(at now: Instant, wantsUnicast: Bool = false) {
    lastAsked = now
    if wantsUnicast { askedUnicast = now }
    isFirst = false
    guard !isSuspended else {
      next = nil
      return
    }
    next = now.advanced(by: interval)
    interval = min(interval * 2, Self.longestInterval)
  }

  /// Counts another host's query as this host's next one if this host has not asked yet, or if at
  /// least half of its current interval has passed (RFC 6762 §7.3). An echo of this host's last
  /// query arrives too early to count.
  mutating func suppressDuplicate(at now: Instant) {
    guard let next else { return }
    if let lastAsked, now - lastAsked < lastAsked.duration(to: next) / 2 { return }
    markAsked(at: now)
  }

  /// Stops querying, because the complete answer is cached, until the schedule is refreshed,
  /// resumed or restarted.
  mutating func suspend() {
    next = nil
    isSuspended = true
  }

  /// Schedules a query for now, or for one second after the last query if that is later. A query
  /// that is already scheduled for an earlier time stays.
  mutating func refresh(at now: Instant) {
    let soon = max(now, lastAsked.map { $0.advanced(by: Self.firstInterval) } ?? now)
    next = min(next ?? soon, soon)
  }

  /// Restarts the schedule with the initial interval, at `start` or `pause` after the last query,
  /// whichever is later.
  mutating func restart(at start: Instant, pause: Duration = QuestionSchedule.firstInterval) {
    next = max(start, lastAsked.map { $0.advanced(by: pause) } ?? start)
    interval = Self.firstInterval
    isSuspended = false
  }

  /// Restarts the schedule as if the link were new: the first query may ask for a unicast response.
  mutating func reset(at start: Instant) {
    next = start
    interval = Self.firstInterval
    isFirst = true
    isSuspended = false
  }

  /// Resumes a suspended schedule with its previous interval, after the cached answer has been
  /// evicted.
  mutating func resume(at now: Instant) {
    guard isSuspended else { return }
    isSuspended = false
    next = now.advanced(by: interval)
    interval = min(interval * 2, Self.longestInterval)
  }

  /// Returns whether a unicast response is acceptable at this time.
  func expectsUnicast(at now: Instant) -> Bool {
    askedUnicast.map { now - $0 <= Self.unicastWindow } ?? false
  }
}
