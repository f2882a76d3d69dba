import CaromCore
import CaromGroup
import CaromSession

/// A change in a group, as one member sees it.
public enum GroupChange<Event: Sendable>: Sendable {
  /// An event was applied to the state.
  case applied(Event, LedgerEntry)
  /// The state was replaced by that of a group which this side has come to. Events of this side
  /// that it does not contain are applied later.
  case replaced
  /// The group has a new leader; nil while it has none.
  case leader(PeerID?)
  /// The list of members has changed.
  case roster(Roster)
  /// A member has submitted an event that cannot be decoded, for example because its program has
  /// another version. No member applies it.
  case invalid(LedgerEntry)
  /// The oldest changes were dropped because they were not read in time. `changes` is their number.
  /// Their events were applied: `ReplicatedGroup.state` is complete.
  case missed(changes: Int)
}

extension GroupChange: Equatable where Event: Equatable {}

/// The changes of a group since this side has entered it, in order, for one reader at a time.
///
/// At most 4,096 unread changes are kept, whose events take 4 MiB at most, encoded. Beyond these
/// limits, the oldest changes are dropped, and a `missed` change takes their place.
public struct GroupChanges<Event: Sendable>: AsyncSequence, Sendable {
  static var limit: Int { 4096 }
  static var byteLimit: Int { 4 << 20 }

  /// A change of the group.
  public typealias Element = GroupChange<Event>

  let inbox: Inbox<Element>

  /// An iterator over the changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let inbox: Inbox<Element>

    /// Waits for the next change. Returns nil when this side has left the group or the task is
    /// cancelled.
    public mutating func next() async -> Element? { await inbox.next() }
  }

  /// Creates an iterator over the changes.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(inbox: inbox) }
}
