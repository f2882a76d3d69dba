import CaromCore

/// What a host tells the directory, or asks of it. All but `register` are refused unless they come
/// on the connection on which the host registered last.
package enum HostCommand: Hashable, Sendable {
  /// The host joins the fleet, or returns to it with the matches that it still runs.
  case register(HostRegistration)
  /// The host extends its lease.
  case renew(HostLoad)
  /// The host leaves the fleet. The matches that it still has are orphaned at once.
  case withdraw
  /// The host wants no more matches.
  case drain
  /// A player has joined the match.
  case takeSeat(MatchClaim, player: PeerID)
  /// A player has left the match for good.
  case releaseSeat(MatchClaim, player: PeerID)
  /// Stores the state that the match has reached.
  case save(MatchClaim, Checkpoint)
  /// The host was given the match and asks for its last checkpoint.
  case resume(MatchClaim)
  /// The host wants another one to go on with its match, from this checkpoint if there is one.
  case move(MatchClaim, Checkpoint?)
  /// The match is over, with this result of at most 8,192 bytes.
  case finish(MatchClaim, result: [UInt8])
}

extension HostCommand {
  /// The claim that the command is about, if it is about one.
  var claim: MatchClaim? {
    switch self {
    case .register, .renew, .withdraw, .drain: nil
    case .takeSeat(let claim, _), .releaseSeat(let claim, _), .save(let claim, _),
      .resume(let claim), .move(let claim, _), .finish(let claim, _):
      claim
    }
  }
}

/// The process of a host that sends a command, and the connection on which it does.
///
/// A network may deliver what was sent on a broken connection after what was sent on the next one.
/// The numbers let the directory refuse it.
package struct CommandSender: Hashable, Sendable {
  /// The host's id.
  package let host: PeerID
  /// A random number that the process has drawn when it started.
  package let run: UInt64
  /// The number of the connection: each connection of the process has a greater one than those
  /// before.
  package let connection: UInt64

  package init(_ host: PeerID, run: UInt64, connection: UInt64) {
    self.host = host
    self.run = run
    self.connection = connection
  }
}

/// What a host says when it registers.
package struct HostRegistration: Hashable, Sendable {
  package let record: HostRecord
  /// The keys that the host has.
  package let keys: HostKeys
  /// Whether the host wants no more matches.
  package let isDraining: Bool
  /// The matches that the host runs and that players have joined there.
  package let holding: [HeldMatch]

  package init(
    _ record: HostRecord, keys: HostKeys = HostKeys(), isDraining: Bool = false,
    holding: [HeldMatch] = []
  ) {
    self.record = record
    self.keys = keys
    self.isDraining = isDraining
    self.holding = holding
  }
}

/// A match that a host runs, and players in it.
package struct HeldMatch: Hashable, Sendable {
  package let claim: MatchClaim
  package let players: [PeerID]

  package init(_ claim: MatchClaim, players: [PeerID]) {
    self.claim = claim
    self.players = players
  }
}

/// What becomes of a host that has registered: it has a lease and goes on with all the matches that
/// it holds, except these.
package struct RegistrationResult: Hashable, Sendable {
  /// The matches that the host must stop, because another host has them or they are over.
  package let lost: [LostMatch]
  /// The players for whom the host has no seats any more, because they were given to others.
  package let unseated: [HeldMatch]

  package init(lost: [LostMatch] = [], unseated: [HeldMatch] = []) {
    self.lost = lost
    self.unseated = unseated
  }
}

/// A match that a returning host must not go on with under its claim.
package struct LostMatch: Hashable, Sendable {
  /// The host's claim, which does not count any more.
  package let claim: MatchClaim
  /// Where the match is now. If it is nil, the match is over or has no host.
  package let placement: Placement?

  package init(_ claim: MatchClaim, to placement: Placement?) {
    self.claim = claim
    self.placement = placement
  }
}
