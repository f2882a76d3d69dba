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
  ///
  /// - Parameters:
  ///   - state: The state before the first event.
  ///   - name: The name of the group, by default that of the state's type. Groups of different
  ///     names ignore each other.
  ///   - body: What this side does as a member.
  /// - Throws: What `body` throws; or a `GroupError` if this side had to leave the group while
  ///   `body` ran, unless `body` throws another error than `CancellationError`.
  public func withGroup<State: ReplicatedState, Result>(
    _ state: State, named name: String? = nil,
    _ body: (ReplicatedGroup<State>) async throws -> Result
  ) async throws -> Result {
    precondition(loops.count == 1, "a group needs a session that runs on one loop")
    let hub = GroupHub(
      state, as: node.local, group: name ?? "\(State.self)", on: loop)
    await hub.begin()
    await attach(hub)
    let result: Result
    do {
      result = try await body(ReplicatedGroup(hub))
    } catch let error as CancellationError {
      throw await leave(hub) ?? error
    } catch {
      _ = await leave(hub)
      throw error
    }
    if let failure = await leave(hub) { throw failure }
    return result
  }

  private func attach<State>(_ hub: GroupHub<State>) async {
    let channels: [GroupChannel] = [.roster, .election, .ledger]
    await attach(ObjectIdentifier(hub), to: channels.map(\.rawValue)) { event in
      hub.assumeIsolated { $0.handle(event) }
    } receive: { peer, channel, bytes in
      guard let channel = GroupChannel(rawValue: channel) else { return false }
      let bytes = Array(copying: bytes)
      return hub.assumeIsolated { $0.receive(bytes, on: channel, from: peer) }
    }
  }

  /// Leaves the group. Returns the reason for which this side had left it already, or nil.
  private func leave<State>(_ hub: GroupHub<State>) async -> (any Error)? {
    let failure = await hub.end(.left)
    await detach(ObjectIdentifier(hub))
    return failure == .left ? nil : failure
  }
}
