import CaromCore

/// What hosts, matchmakers and operators ask of a fleet's directory. The directory carries out each
/// command as a whole or not at all, one after another.
///
/// Every command can be repeated when its answer was lost: the second time changes nothing more.
package enum DirectoryCommand: Hashable, Sendable {
  /// A command of a host about itself and its matches.
  case host(HostCommand, from: CommandSender)
  /// A host shall get no more matches.
  case drain(PeerID)
  /// A match needs a host.
  case place(PlacementRequest)
  /// A player of a match asks where the match is. If its host is gone, another one takes over.
  case locate(MatchID, player: PeerID)
  /// A host asks which other hosts its players can ask where their match is.
  case doors(of: PeerID)
  /// An operator asks what there is.
  case status
}

/// The answer of the directory to a command.
package enum DirectoryAnswer: Hashable, Sendable {
  /// To `drain`, `withdraw`, `takeSeat`, `releaseSeat`, `save` and `finish`: it is done.
  case done
  /// To `register`.
  case registered(RegistrationResult)
  /// To `renew`: the lease is extended. `assigned` are claims of the host whose match no player has
  /// joined yet, at most 64.
  case renewed(isDraining: Bool, assigned: [MatchClaim])
  /// The host has no lease, or none on this connection: it must register.
  case unknownHost
  /// Another process has registered with the host's id.
  case replaced
  /// To `place`, `locate` and `move`: where the match is.
  case placed(Placement)
  /// To `place`, `locate` and `move`: there is no host for the match.
  case refused(PlacementRefusal)
  /// To `locate`: the match is over, with this result.
  case over(result: [UInt8])
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
