import CaromCore

/// Watches what name servers say to one question by asking again as the answer grows old.
package struct UnicastWatch: Sendable {
  /// Between two questions at least, so that tiny times to live cause no polling.
  package static let shortestInterval = Duration.seconds(15)
  /// Between two questions at most.
  package static let longestInterval = Duration.seconds(3600)
  /// Until a name that had nothing is asked for again.
  static let emptyInterval = Duration.seconds(60)
  /// Records that are watched at most; further ones are not told.
  package static let limit = 8192

  /// What an answer changed.
  package enum Change: Hashable, Sendable {
    case added(Record)
    case removed(Record)
  }

  /// When to ask next; `nil` while an answer is awaited.
  package private(set) var nextTimeout: Instant?
  /// What is there, in the order in which it came.
  package private(set) var records: [Record] = []
  private var expires: Instant?
  private var interval = UnicastWatch.shortestInterval

  /// Asks first at `start`.
  package init(start: Instant) { nextTimeout = start }

  /// Time has passed; `true` asks for a question now.
  package mutating func handleTimeout(at now: Instant) -> Bool {
    guard let due = nextTimeout, now >= due else { return false }
    nextTimeout = nil
    return true
  }

  /// The answer: what it has that was not there, and what it has no more.
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
    let shortest = life.min() ?? Self.emptyInterval
    expires = now.advanced(by: shortest)
    interval = Self.shortestInterval
    let wait = min(max(shortest * 4 / 5, Self.shortestInterval), Self.longestInterval)
    nextTimeout = now.advanced(by: wait)
    return lost.map(Change.removed) + found.map(Change.added)
  }

  /// There is no answer. A name that is not there has no records; otherwise they live as long as
  /// they were said to.
  package mutating func handleFailure(_ error: UnicastError, at now: Instant) -> [Change] {
    nextTimeout = now.advanced(by: interval)
    interval = min(interval * 2, Self.longestInterval)
    guard error == .nameError || expires.map({ $0 <= now }) ?? true else { return [] }
    defer { records = [] }
    return records.map(Change.removed)
  }
}
