import CaromCore

extension Replica {
  /// A member that this side leads.
  struct Member: Hashable, Sendable {
    /// The maximum number of entries that are under way to a member.
    static let window: UInt64 = 64

    /// What the member receives.
    enum Stage: Hashable, Sendable {
      /// Nothing, until the application has provided a snapshot.
      case waiting
      case transferring(OutgoingSnapshot)
      case streaming
    }

    let membership: UInt32
    let source: EventSource
    var stage: Stage
    var heardAt: Instant
    /// Whether the member has sent something since it was admitted.
    var hasAnswered = false
    /// Whether entries are committed only when the member has acknowledged them. Not before it has
    /// caught up: before it has acknowledged `target`.
    var isVoting = false
    /// The index of the last entry that was committed when the member began to receive entries. It
    /// does not move with the log, so that a member catches up also while others are busy.
    var target: UInt64
    /// The index of the next entry to send.
    var next: UInt64
    /// The index of the last entry that the member has acknowledged.
    var acknowledged: UInt64
    /// The index of the last entry that was under way at `markedAt`. When it is acknowledged, the
    /// mark moves to the last one that is under way then: a member that lags behind its mark holds
    /// up the others.
    var mark: UInt64
    var markedAt: Instant
    /// The time up to which the member was charged with holding up the others.
    var chargedAt: Instant
    /// The index of the last committed entry that the member was told of.
    var notified: UInt64 = 0

    /// Moves the mark to the last entry that is under way.
    mutating func moveMark(at now: Instant) { (mark, markedAt) = (next - 1, now) }
  }

  /// A snapshot on its way to a member.
  struct OutgoingSnapshot: Hashable, Sendable {
    /// The maximum number of bytes that are under way.
    static let window = 131_072

    let position: LedgerPosition
    let bytes: [UInt8]
    var sent = 0
    var received = 0
  }

  /// A snapshot on its way from the leader.
  struct IncomingSnapshot: Hashable, Sendable {
    let position: LedgerPosition
    let length: Int
    var bytes: [UInt8] = []
  }

  /// The place in the order for which the application was asked for a snapshot.
  struct RequestedSnapshot: Hashable, Sendable {
    let number: UInt32
    let position: LedgerPosition
    let table: SequenceTable
  }
}
