import CaromCore
import CaromGroup
import CaromProtocol
import CaromSession

/// This side's part in a group: the shared state, the leader, and the list of members.
///
/// ```swift
/// try await nearby.session.withGroup(Votes()) { group in
///   try await group.apply("red")
///   for await change in group.changes {
///     if case .applied = change { print(await group.state.count) }
///   }
/// }
/// ```
///
/// The group chooses a leader by itself, and a new one within five seconds if the leader leaves.
/// The leader puts the events of all members into one order.
public struct ReplicatedGroup<State: ReplicatedState>: Sendable {
  private let hub: GroupHub<State>

  init(_ hub: GroupHub<State>) { self.hub = hub }

  /// The state after the last event that was applied here.
  public var state: State { get async { await hub.state } }

  /// The group's leader, possibly this side; nil while there is none.
  public var leader: PeerID? { get async { await hub.leader } }

  /// The list of members, this side included, as the leader has written it last; nil until this
  /// side has received or written the first one.
  public var roster: Roster? { get async { await hub.roster } }

  /// The changes of the state, the leader and the members since this side has entered the group,
  /// for one reader at a time.
  public var changes: GroupChanges<State.Event> { GroupChanges(inbox: hub.changes) }

  /// Submits an event, after waiting for room if many events of this side are not applied yet.
  /// Returns the event's number, for `waitUntilApplied`.
  ///
  /// The events of one member are applied in the order in which they were submitted. Until an event
  /// is applied, it is kept here and submitted again to every new leader. It is lost only if all
  /// members that have it leave before it is applied.
  @discardableResult
  public func submit(_ event: State.Event) async throws(GroupError) -> UInt64 {
    try await hub.submit(event)
  }

  /// Waits until the event with this number, which `submit` has returned, is applied on this side.
  /// All members have received it then, except those that have come a moment ago and still receive
  /// earlier events, and they apply it in the same place of the order.
  public func waitUntilApplied(_ number: UInt64) async throws(GroupError) {
    try await hub.waitUntilApplied(number)
  }

  /// Submits an event, and waits until it is applied on this side.
  public func apply(_ event: State.Event) async throws(GroupError) {
    try await waitUntilApplied(submit(event))
  }

  /// The member that would be the best host of a game: the one whose slowest connection is the
  /// fastest, by round-trip time, loss and bandwidth. Only the leader knows it: nil on other
  /// members, and until at least two members have measured their connections, which takes some
  /// seconds.
  public var bestHost: PeerID? { get async { await hub.bestHost } }

  /// Makes a member the leader. Returns false if this side does not lead, if it is about to follow
  /// another leader, or if the member has not received all events yet. The `leader` changes tell
  /// when the member leads.
  public func handOver(to member: PeerID) async -> Bool { await hub.handOver(to: member) }
}

extension Session {
  /// Runs `body` as a member of the group of all peers that do the same, with a state that all of
  /// them share.
  ///
  /// All members must begin with equal states. The state of a side that comes to a larger group is
  /// replaced by that of the group, and the events which this side has submitted before are
  /// submitted again. When `body` returns or throws, this side leaves the group; the peers stay
  /// connected. One such scope can be open at a time, on a session that runs on one loop.
  ///
  /// Groups use channels 57 to 59.
  public func withGroup<State: ReplicatedState, Result>(
    _ state: State, _ body: (ReplicatedGroup<State>) async throws -> Result
  ) async throws -> Result {
    precondition(loops.count == 1, "a group needs a session that runs on one loop")
    let hub = GroupHub(state, as: node.local, on: loop)
    await hub.begin()
    await attach(hub)
    do {
      let result = try await body(ReplicatedGroup(hub))
      await hub.end(.left)
      return result
    } catch {
      await hub.end(.left)
      throw error
    }
  }

  /// Connects the hub with the session, until the session ends. A closed hub ignores everything.
  private func attach<State>(_ hub: GroupHub<State>) async {
    await addObserver { event in hub.assumeIsolated { $0.handle(event) } }
    for channel in [GroupChannel.roster, .election, .ledger] {
      await setReceiver(of: channel.rawValue) { peer, bytes in
        let bytes = Array(copying: bytes)
        return hub.assumeIsolated { $0.receive(bytes, on: channel, from: peer) }
      }
    }
  }
}
