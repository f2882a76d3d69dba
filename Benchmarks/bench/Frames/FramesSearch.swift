import Carom

/// Searches for the largest number of matches that one core sustains. The number is doubled until
/// the core fails to keep up; then the gap is halved.
struct FramesSearch {
  /// The result of a search.
  struct Result {
    /// The largest number of matches that the core sustained.
    var matches = 0
    /// The smallest number of matches that the core did not sustain, or `nil` if the search never
    /// found one.
    var failed: Int?
  }

  /// The search ends when the gap is at most this fraction of the answer: one sixteenth.
  private static let precision = 16

  /// The largest number of matches to try, bounded by a host's connections and this process's
  /// descriptors.
  let limit: Int
  /// The time at which the search ends, whether or not it has found the limit.
  let deadline: ContinuousClock.Instant
  /// Whether the core sustains this number of matches.
  let sustains: (Int) async throws -> Bool

  func run(from start: Int) async throws -> Result {
    var result = Result()
    var next = min(start, limit)
    while ContinuousClock.now < deadline {
      progress("\(next) matches on one core: does it keep up?")
      // Other work on the machine looks like overload, so a number that fails is tried again.
      var isSustained = try await sustains(next)
      if !isSustained { isSustained = try await sustains(next) }
      if isSustained { result.matches = next } else { result.failed = next }
      if isSustained, next == limit { break }
      if let failed = result.failed {
        let gap = failed - result.matches
        if gap <= max(1, failed / Self.precision) { break }
        next = result.matches + gap / 2
      } else {
        next = min(2 * next, limit)
      }
    }
    return result
  }
}
