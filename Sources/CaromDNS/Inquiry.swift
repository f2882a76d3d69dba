import CaromCore

/// One question that somebody wants answered, asked ever more rarely (RFC 6762 §5.2).
struct Inquiry: Sendable {
  /// The first query waits a random time in this range.
  static let firstDelay: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(120)
  /// Between the first two queries; doubled each time.
  static let firstInterval = Duration.seconds(1)
  /// Between two queries at most.
  static let longestInterval = Duration.seconds(3600)

  let key: RecordKey
  /// In which order inquiries were opened: questions stand in that order.
  let order: UInt64
  /// How many want the answer; at none it is forgotten.
  var users = 1
  /// When it is asked next; `nil` where its answer is unique and known.
  private(set) var next: Instant?
  /// Whether the next query is the first of a series.
  private(set) var isFirst = true
  private var interval = Inquiry.firstInterval
  private var lastAsked: Instant?

  init(_ key: RecordKey, order: UInt64, start: Instant) {
    self.key = key
    self.order = order
    next = start
  }

  /// It was asked: when it is asked again.
  mutating func asked(at now: Instant) {
    lastAsked = now
    isFirst = false
    next = now.advanced(by: interval)
    interval = min(interval * 2, Self.longestInterval)
  }

  /// The whole answer is known; nothing is asked until it grows old.
  mutating func rest() { next = nil }

  /// Asks soon, though not within a second of the last time.
  mutating func refresh(at now: Instant) {
    let soon = max(now, lastAsked.map { $0.advanced(by: Self.firstInterval) } ?? now)
    next = min(next ?? soon, soon)
  }

  /// Begins the series anew, such as on a new link.
  mutating func restart(at start: Instant) {
    next = start
    interval = Self.firstInterval
    isFirst = true
  }
}
