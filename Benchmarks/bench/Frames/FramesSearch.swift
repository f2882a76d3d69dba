import Carom

/// Looks for the most matches that one core keeps up with: doubles until it does not, then halves
/// the gap.
struct FramesSearch {
  /// What it found.
  struct Result {
    /// The most that were kept up with.
    var matches = 0
    /// The fewest that were not; `nil` where the limit came first.
    var failed: Int?
  }

  /// How close it comes: a sixteenth of the answer.
  private static let precision = 16

  /// The most that are tried: links of a host, descriptors of this process.
  let limit: Int
  /// When it stops, found or not.
  let deadline: ContinuousClock.Instant
  /// Whether so many matches are kept up with.
  let holds: (Int) async throws -> Bool

  func run(from start: Int) async throws -> Result {
    var result = Result()
    var next = min(start, limit)
    while ContinuousClock.now < deadline {
      progress("\(next) matches on one core?")
      // A neighbour's burst looks like overload: what fails is tried twice.
      var held = try await holds(next)
      if !held { held = try await holds(next) }
      if held { result.matches = next } else { result.failed = next }
      if held, next == limit { break }
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
