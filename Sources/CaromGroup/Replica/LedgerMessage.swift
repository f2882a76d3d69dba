import CaromCore

/// A message between a leader and the members of its group, on channel `GroupChannel.ledger`.
///
/// The leader gives each membership a number, which every message after `join` and `welcome` has.
/// Messages of an earlier membership of the same member are recognized by it and ignored.
package enum LedgerMessage: Hashable, Sendable {
  /// The maximum number of entries or events in one message.
  static let batchLimit = 1024
  /// The maximum length of a part of a snapshot, in bytes.
  static let partLimit = 32_768

  /// The sender asks to follow the receiver.
  case join(JoinRequest)
  /// The sender leads the receiver.
  case welcome(Welcome)
  /// The sender does not lead; it follows this peer.
  case refuse(leader: PeerID)
  /// The next entries of the log, and the index of the last entry that is committed.
  case append(membership: UInt32, first: UInt64, committed: UInt64, [LedgerEntry])
  /// The sender has all entries up to this index.
  case acknowledge(membership: UInt32, index: UInt64)
  /// Events for the log. `isComplete` is false if earlier events of the same submitters may be
  /// missing, because the sender does not keep them any longer.
  case submit(membership: UInt32, isComplete: Bool, [SubmittedEvent])
  /// A snapshot follows, which replaces what the receiver has.
  case snapshot(membership: UInt32, LedgerPosition, length: UInt64)
  /// The next part of the snapshot.
  case part(membership: UInt32, [UInt8])
  /// The sender has received this much of the snapshot, in bytes.
  case received(membership: UInt32, length: UInt64)
  /// The sender does not follow the receiver any more.
  case leave(membership: UInt32)
  /// The sender does not lead the receiver any more.
  case remove(membership: UInt32)
  /// The sender does not lead the receiver any more, because it cannot send it the state.
  case withhold(membership: UInt32)
}

/// The request of a side to follow another one.
package struct JoinRequest: Hashable, Sendable {
  /// The number of this request of the sender, which the welcome repeats.
  package var number: UInt32
  package var incarnation: UInt64
  /// The version of the last roster that the sender has, or 0.
  package var rosterVersion: UInt64
  /// The last entry that the sender has applied.
  package var position: LedgerPosition

  package init(
    number: UInt32, incarnation: UInt64, rosterVersion: UInt64, position: LedgerPosition
  ) {
    self.number = number
    self.incarnation = incarnation
    self.rosterVersion = rosterVersion
    self.position = position
  }
}

/// The answer of a leader that admits a member.
package struct Welcome: Hashable, Sendable {
  /// Where the log of the new member continues.
  package enum Start: UInt8, Sendable {
    /// After the position of the request, which the leader's log contains.
    case afterPosition = 0
    /// At the first entry: the member must discard the state that it has.
    case atBeginning = 1
    /// After a snapshot that follows and replaces the state that the member has.
    case afterSnapshot = 2
  }

  package var membership: UInt32
  /// The number of the request.
  package var request: UInt32
  package var start: Start
  /// The number of the member's last event in the leader's log, or 0.
  package var lastSequence: UInt64

  package init(membership: UInt32, request: UInt32, start: Start, lastSequence: UInt64) {
    self.membership = membership
    self.request = request
    self.start = start
    self.lastSequence = lastSequence
  }
}
