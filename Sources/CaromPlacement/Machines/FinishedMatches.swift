import CaromCore

/// The matches that a host has finished a short time ago.
///
/// A player who comes late with a token for such a match must not begin it again. The directory
/// knows that it is over, unless it has just forgotten everything.
struct FinishedMatches: Sendable {
  private var claims: [MatchID: MatchClaim] = [:]
  private var ends = DeadlineQueue<MatchClaim>()

  /// Notes that the match of a claim is over, for as long as seats are reserved.
  mutating func insert(_ claim: MatchClaim, at now: Instant) {
    while let old = ends.popFirst(until: now) {
      if claims[old.match] == old { claims[old.match] = nil }
    }
    claims[claim.match] = claim
    ends.insert(claim, at: now + PlacementRules.reservation)
  }

  /// Whether the match was over under this claim, or a newer one.
  func contains(_ claim: MatchClaim) -> Bool {
    claims[claim.match].map { claim.number <= $0.number } ?? false
  }
}
