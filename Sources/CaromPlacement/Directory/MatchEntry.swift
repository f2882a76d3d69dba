import CaromCore

/// A match in the directory.
struct MatchEntry: Sendable {
  enum Phase: Hashable, Sendable {
    /// The claim counts, and its host is alive. If no player has joined the match under this claim,
    /// the claim ends at `confirmBy`; otherwise, that is nil.
    case held(confirmBy: Instant?)
    /// The host is gone, or no player has joined it; another host can take over until then.
    case orphaned(until: Instant)
    /// The match is over, and is forgotten then.
    case finished(result: [UInt8], until: Instant)
  }

  /// A player's place in a match.
  struct Seat: Hashable, Sendable {
    let player: PeerID
    var state: SeatState
  }

  enum SeatState: Hashable, Sendable {
    /// The seat is kept for the player until then.
    case reserved(until: Instant)
    /// The player is in the match.
    case taken
    /// The match has no host. If it gets one, a seat there is reserved for the player.
    case waiting
  }

  /// The last claim.
  var claim: MatchClaim
  let game: GameVersion
  /// The regions that the match prefers.
  let regions: [String]
  var phase: Phase
  /// Whether a player has ever joined the match.
  var wasPlayed = false
  /// In the order in which the players came.
  var seats: [Seat] = []
  var checkpoint: Checkpoint?

  /// Whether the match has a host.
  var isHeld: Bool { if case .held = phase { true } else { false } }

  /// When the directory forgets the match. Nil while it has a host.
  var expiry: Instant? {
    switch phase {
    case .held: nil
    case .orphaned(let until), .finished(_, let until): until
    }
  }

  func seatIndex(of player: PeerID) -> Int? { seats.firstIndex { $0.player == player } }
}
