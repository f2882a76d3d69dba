import CaromCore

/// Monitors the answer to one query to name servers by repeating the query before the answer's
/// records expire.
package struct UnicastMonitor: Sendable {
  /// The minimum interval between two queries, so that very short times to live do not cause
  /// polling.
  package static let shortestInterval = Duration.seconds(15)
  /// The maximum interval between two queries.
  package static let longestInterval = Duration.seconds(3600)
  /// The interval after which a name without records is queried again.
  static let emptyInterval = Duration.seconds(60)
  /// The maximum number of monitored records. Further records are ignored.
  package static let limit = 8192

  /// A difference between two successive answers.
  package enum Change: Hashable, Sendable {
    case added(Record)
    case removed(Record)
  }

  /// The time of the next query, or nil while an answer is awaited.
  package private(set) var nextTimeout: Instant?
  /// The current records, in the order in which they appeared.
  package private(set) var records: [Record] = []
  private var expires: Instant?
  private var interval = UnicastMonitor.shortestInterval

  /// Creates a monitor whose first query is due at `start`.
  package init(start: Instant) { nextTimeout = start }

  /// Returns whether a query must be sent now.
  package mutating func handleTimeout(at now: Instant) -> Bool {
    guard let due = nextTimeout, now >= due else { return false }
    nextTimeout = nil
    return true
  }

  /// Handles an answer and returns the records that appeared or disappeared.
  package mutating func handleAnswer(_ answer: UnicastAnswer, at now: Instant) -> [Change] {
    let current = Set(answer.records.map(\.identity))
    var known = Set(records.map(\.identity))
    let lost = records.filter { !current.contains($0.identity) }
    records.removeAll { !current.contains($0.identity) }
    let found = Array(
      answer.records.filter { known.insert($0.identity).inserted }
        .prefix(Self.limit - records.count))
    records += found
    let life = answer.records.map {
      Duration.seconds(Int64(min($0.timeToLive, TimeToLive.ceiling)))
    }
    let shortest = life.min()
    expires = shortest.map { now.advanced(by: $0) }
    interval = Self.shortestInterval
    let wait = shortest.map { min(max($0 * 4 / 5, Self.shortestInterval), Self.longestInterval) }
    nextTimeout = now.advanced(by: wait ?? Self.emptyInterval)
    return lost.map(Change.removed) + found.map(Change.added)
  }

  /// Handles a failed query and returns the records that disappeared. If the name does not exist,
  /// all records disappear immediately; otherwise they disappear when a query fails after the
  /// shortest of their times to live has ended. The next query is due no later than the end of this
  /// time to live, but not sooner than `shortestInterval` from now.
  package mutating func handleFailure(_ error: UnicastError, at now: Instant) -> [Change] {
    var wait = interval
    defer { nextTimeout = now.advanced(by: wait) }
    interval = min(interval * 2, Self.longestInterval)
    guard error != .nameError, let expires, now < expires else {
      defer { records = [] }
      return records.map(Change.removed)
    }
    wait = min(wait, max(expires - now, Self.shortestInterval))
    return []
  }
}
