import CaromCore

/// What hosts, matchmakers and operators ask of a fleet's directory. The directory carries out each
/// command as a whole or not at all, one after another.
///
/// Every command can be repeated when its answer was lost: the second time changes nothing more.
package enum DirectoryCommand: Hashable, Sendable {
  /// A command of a host about itself and its matches.
  case host(HostCommand, from: CommandSender)
  /// A host shall get no more matches. It ends after `patience`, at most a day, even if it still
  /// has some; if that is nil, it goes on with them.
  case drain(PeerID, patience: Duration? = nil)
  /// A match needs a host.
  case place(PlacementRequest)
  /// A player of a match asks where the match is. If its host is gone, another one takes over.
  case locate(MatchID, player: PeerID)
  /// A host asks which other hosts its players can ask where their match is.
  case doors(of: PeerID)
  /// An operator asks what there is.
  case status
  /// Somebody asks what has become of a match. Nothing changes.
  case match(MatchID)
}

/// The answer of the directory to a command.
package enum DirectoryAnswer: Hashable, Sendable {
  /// To `drain`, `withdraw`, `takeSeat`, `releaseSeat`, `save` and `finish`: it is done.
  case done
  /// To `register`: the host has a lease.
  case registered(RegistrationResult)
  /// To `register`: the host has none.
  case notRegistered(RegistrationRefusal)
  /// To `renew`: the lease is extended. `assigned` are claims of the host whose match no player has
  /// joined yet, at most 64. `patience` is that of the operator who drains the host.
  case renewed(isDraining: Bool, patience: Duration? = nil, assigned: [MatchClaim])
  /// The host has no lease, or none on this connection: it must register.
  case unknownHost
  /// Another process has registered with the host's id.
  case replaced
  /// To `place`, `locate`, `move` and `match`: where the match is.
  case placed(Placement)
  /// To `place`, `locate` and `move`: there is no host for the match.
  case refused(PlacementRefusal)
  /// To `locate` and `match`: the match is over, with this result.
  case over(result: [UInt8])
  /// To `match`: the match has lost its host, and no other one has taken it over yet.
  case orphaned
  /// To `resume`: the last checkpoint, if there is one, and the players for whom there are seats.
  case resumed(Checkpoint?, players: [PeerID])
  /// The claim does not count any more. The match is at another host, if there is one.
  case superseded(Placement?)
  /// To `takeSeat`: nothing is reserved for the player any more, and no other seat is free.
  case noSeat
  /// To `save`: the directory has a later checkpoint.
  case outdated
  /// To `doors`: at most 6 hosts of the same game and version, those whose ids follow that of the
  /// host, in their order; the first id follows the last.
  case doors([HostRecord])
  /// To `status`.
  case status(FleetStatus)
}
