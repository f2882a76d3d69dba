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
    /// The acknowledged index at the last heartbeat, and the last one at which it had changed or
    /// nothing was under way.
    var checked: UInt64 = 0
    var progressAt: Instant
    /// The index of the last committed entry that the member was told of.
    var notified: UInt64 = 0
    /// The number of submitters of absent peers' events that the member has introduced.
    var vouchedSources = 0
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
