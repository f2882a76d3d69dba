import CaromCore

/// A message between two replicas, by the channel that carries it.
package enum ReplicaMessage: Hashable, Sendable {
  /// On channel `GroupChannel.roster`.
  case roster(Roster)
  /// On channel `GroupChannel.election`.
  case ballot(Ballot)
  /// On channel `GroupChannel.ledger`.
  case ledger(LedgerMessage)
}
