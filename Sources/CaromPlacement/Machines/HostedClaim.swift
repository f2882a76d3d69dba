import CaromCore

/// A match as its host sees it.
package struct HostedClaim: Hashable, Sendable {
  /// How the match ends for this host.
  enum Ending: Hashable, Sendable {
    /// Another host shall go on with it.
    case moving
    /// It is over.
    case finishing(result: [UInt8])
  }

  package internal(set) var claim: MatchClaim
  /// The players who have joined, in the order in which they came.
  package internal(set) var players: [PeerID] = []
  /// Whether a player has ever joined the match at this host.
  var isConfirmed = false
  /// Whether the host knows from where to go on.
  var isResumed = false
  /// The last checkpoint, and whether it is on its way.
  var checkpoint: Checkpoint?
  var isCheckpointSent = false
  /// The tick of the newest checkpoint that the directory is known to have.
  package internal(set) var savedTick: UInt64?
  var ending: Ending?

  init(_ claim: MatchClaim) { self.claim = claim }

  mutating func setCheckpoint(_ checkpoint: Checkpoint) {
    self.checkpoint = checkpoint
    isCheckpointSent = false
  }

  /// Has the last checkpoint sent again, and does not count on any until the directory has it.
  mutating func forgetSaved() {
    isCheckpointSent = false
    savedTick = nil
  }
}
