import CaromCore

/// The queries for one question on one link: ever rarer (RFC 6762 §5.2).
struct QuestionSchedule: Sendable {
  /// The first query waits a random time in this range.
  static let firstDelay: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(120)
  /// Between the first two queries; doubled each time.
  static let firstInterval = Duration.seconds(1)
  /// Between two queries at most.
  static let longestInterval = Duration.seconds(3600)
  /// A unicast answer counts so long after the question that asked for it (RFC 6762 §6).
  static let unicastWindow = Duration.seconds(2)

  let link: UInt32
  /// When it is asked next; `nil` where its answer is unique and known.
  private(set) var next: Instant?
  /// Whether the next query is the first since it was opened or the link came up.
  private(set) var isFirst = true
  /// For when the table has set a timer.
  var scheduled: Instant?
  /// Whether the answer is known: what grows old is asked for once at a time.
  private var isResting = false
  private var interval = QuestionSchedule.firstInterval
  private var lastAsked: Instant?
  private var askedUnicast: Instant?

  init(link: UInt32, start: Instant) {
    self.link = link
    next = start
  }

  /// It was asked: when it is asked again.
  mutating func asked(at now: Instant, wantsUnicast: Bool = false) {
    lastAsked = now
    if wantsUnicast { askedUnicast = now }
    isFirst = false
    guard !isResting else {
      next = nil
      return
    }
    next = now.advanced(by: interval)
    interval = min(interval * 2, Self.longestInterval)
  }

  /// Another host asked the same. If our turn was near, the answer to that one is ours
  /// (RFC 6762 §7.3); near is the second half of the wait, so that our own echo never counts.
  mutating func overheard(at now: Instant) {
    guard let next else { return }
    if let lastAsked, now - lastAsked < lastAsked.duration(to: next) / 2 { return }
    asked(at: now)
  }

  /// The whole answer is known; nothing is asked until it grows old.
  mutating func rest() {
    next = nil
    isResting = true
  }

  /// Asks soon, though not within a second of the last time.
  mutating func refresh(at now: Instant) {
    let soon = max(now, lastAsked.map { $0.advanced(by: Self.firstInterval) } ?? now)
    next = min(next ?? soon, soon)
  }

  /// Begins the series anew, though not within `pause` of the last query.
  mutating func restart(at start: Instant, pause: Duration = QuestionSchedule.firstInterval) {
    next = max(start, lastAsked.map { $0.advanced(by: pause) } ?? start)
    interval = Self.firstInterval
    isResting = false
  }

  /// Begins as on a link that nobody has asked on: the first query may want unicast answers.
  mutating func beginAnew(at start: Instant) {
    next = start
    interval = Self.firstInterval
    isFirst = true
    isResting = false
  }

  /// The answer had to be forgotten: asks again, no sooner than it would have.
  mutating func resume(at now: Instant) {
    guard isResting else { return }
    isResting = false
    next = now.advanced(by: interval)
    interval = min(interval * 2, Self.longestInterval)
  }

  /// Whether a unicast answer may come now.
  func expectsUnicast(at now: Instant) -> Bool {
    askedUnicast.map { now - $0 <= Self.unicastWindow } ?? false
  }
}
