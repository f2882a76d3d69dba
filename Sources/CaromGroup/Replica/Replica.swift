import CaromCore

/// One side's part in a group that has a leader, a roster, and a ledger: a log of events in one
/// order, of which each member applies each event once.
///
/// Every side either leads, possibly only itself, or follows one leader. Leaders that see each
/// other merge their groups: the leader of the smaller group asks the other one to admit it, and
/// its members do so too. If the groups are equally large, the one with the longer log stays, and
/// then the one whose leader has the lower id. If a leader dies, each of its members leads itself,
/// and they merge in the same way. There is no other kind of election.
///
/// The leader appends events to its log and sends them to its members. An entry is committed, and
/// then applied everywhere, when every member that has caught up has acknowledged it or was removed
/// from the group. Therefore whichever of them leads next has all committed entries.
///
/// If the leader's log contains the last entry that a new member has applied, the member continues
/// its own log from there. Otherwise the leader's state replaces that of the member, which then
/// submits its own events again that the leader's log does not contain.
///
/// The owner reports which peers have joined and passes on messages between them, which must arrive
/// in order on each channel. It polls the outputs after each call and carries them out in order.
package struct Replica: Sendable {
  /// The delays and limits of a replica.
  package struct Options: Hashable, Sendable {
    /// The interval at which leaders and members send each other ballots, as signs of life.
    package var heartbeatInterval = Duration.milliseconds(400)
    /// The silence after which a member leaves its leader, or a leader removes a member.
    package var silenceLimit = Duration.milliseconds(1600)
    /// The time for which a member may hold up the others in all by acknowledging entries late. It
    /// regains a tenth of the time for which it does not. Then the leader removes it.
    package var acknowledgementLimit = Duration.seconds(5)
    /// The delay of an acknowledgement up to which a member does not hold up the others.
    package var lagLimit = Duration.seconds(1)
    /// The time for which entries are committed without waiting for a member that was removed
    /// because it had held up the others. It doubles each time.
    package var suspensionInterval = Duration.seconds(10)
    /// The time for which a side waits for the answer to its request to join.
    package var askLimit = Duration.milliseconds(1500)
    /// The time for which a new leader waits for the other members of the group that has lost its
    /// leader, before it commits entries without them.
    package var settleLimit = Duration.seconds(2)
    /// The time for which a new leader waits for members with which it has never been connected: in
    /// a group that has just formed, these connections are about to come.
    package var meetingLimit = Duration.seconds(1)
    /// The shortest time between two rosters.
    package var rosterInterval = Duration.milliseconds(100)
    /// The time after which a leader hands the group over to a member that is connected with more
    /// peers.
    package var reachLimit = Duration.seconds(3)
    /// The time for which this side does not hand the group over again to a member to which it was
    /// handed over for that reason, or which has fallen silent as the leader. It doubles each time.
    package var claimInterval = Duration.seconds(30)
    /// The interval at which members submit the events of absent peers to the leader again.
    package var vouchInterval = Duration.seconds(2)
    /// The time for which this side does not ask a leader again that has not answered, that refuses
    /// too often, or whose state must not replace that of this side's group. It doubles each time.
    package var distrustInterval = Duration.seconds(1)
    /// The shortest time between two requests for a snapshot, and once more for every 4 MiB of the
    /// last one, so that peers which join again and again do not keep the application busy.
    package var snapshotInterval = Duration.seconds(1)

    /// The number of applied entries that are kept.
    package var keptEntries = 4096

    package init() {}
  }

  /// What the owner has to do or to know, in order.
  package enum Output: Hashable, Sendable {
    /// Send this message to a peer that has joined.
    case send(ReplicaMessage, PeerID)
    /// The group has a new leader; nil while it has none.
    case leader(PeerID?)
    /// The roster has changed.
    case roster(Roster)
    /// Apply this entry to the application's state.
    case applied(LedgerEntry)
    /// Replace the application's state by a snapshot, or by the state before the first entry if it
    /// is nil. All of this side's events up to the number `ownSequence` are contained in it.
    case restored([UInt8]?, index: UInt64, ownSequence: UInt64)
    /// Call `provideSnapshot` with this number and a snapshot of the application's state after the
    /// last applied entry.
    case snapshotNeeded(UInt32)
    /// The leader of the group that this side has come to cannot send its state. Leave the group.
    case stateUnavailable(PeerID)
  }

  /// The maximum length of a snapshot, in bytes.
  package static let snapshotLimit = 16 << 20
  /// The maximum number of entries that are sent to a member and are not committed.
  static let openWindow: UInt64 = 256

  /// This side as a member.
  package let local: RosterMember
  package let options: Options
  /// The group. Sides of other groups are ignored.
  package let group: GroupID
  /// The peers that have joined.
  var peers = PeerMap<PeerRecord>()
  /// How many peers say that they follow a leader, by its id.
  var followerCounts: [PeerID: Int] = [:]
  var conduct = ConductTable()
  var role: Role
  /// The members that this side leads; empty if it follows a leader.
  var members = PeerMap<Member>()
  /// The request to join another leader that waits for its answer.
  var ask: Ask?
  var log: EventLog
  /// The last events of this side: all that are not applied, and some that are.
  var own = Deque<SubmittedEvent>()
  var lastOwnSequence: UInt64 = 0
  var vouched = VouchedEvents()
  var vouching = Vouching()
  package internal(set) var roster: Roster?
  /// The members of the last roster with which this side has not been connected since.
  var unmet: Set<PeerID> = []
  var rosterVersion: UInt64 = 0
  var incoming: IncomingSnapshot?
  /// The number of entries that are not applied yet, by the members that have given them.
  var openEvents = OpenEvents()
  /// The state at the position for which the application was asked for a snapshot.
  var requested: RequestedSnapshot?
  var lastSnapshotNumber: UInt32 = 0
  /// The time before which the application is not asked for a snapshot again.
  var nextSnapshotAt: Instant?
  var lastMembership: UInt32 = 0
  var lastRequest: UInt32 = 0
  var heartbeatAt: Instant?
  /// What this side knows of its own connections.
  var quality: HostQuality?
  var generator: SeededGenerator
  private var outputs = Deque<Output>()
  private var reportedLeader: PeerID?

  /// Creates a side that is alone. Groups of different names ignore each other. `generator` chooses
  /// the incarnation and the terms.
  package init(
    as id: PeerID, name: String, group: String = "", _ options: Options = Options(),
    generator: SeededGenerator, at now: Instant
  ) {
    self.group = GroupID(named: group)
    var generator = generator
    local = RosterMember(id: id, name: name, incarnation: generator.next())
    self.options = options
    log = EventLog(keeping: options.keptEntries)
    role = .leading(Leadership(term: generator.nextTerm(), since: now))
    self.generator = generator
    advance(at: now)
  }

  /// Removes and returns the next output, or nil if there is none.
  package mutating func pollOutput() -> Output? { outputs.popFirst() }

  mutating func emit(_ output: Output) { outputs.append(output) }
  mutating func send(_ message: ReplicaMessage, to peer: PeerID) {
    outputs.append(.send(message, peer))
  }
  mutating func send(_ message: LedgerMessage, to peer: PeerID) {
    outputs.append(.send(.ledger(message), peer))
  }

  /// The group's leader; nil while there is none.
  package var leader: PeerID? {
    switch role {
    case .leading(let leadership): leadership.isSettled ? local.id : nil
    case .following(let following): following.leader
    }
  }

  /// The index of the last applied entry.
  package var appliedIndex: UInt64 { log.appliedIndex }

  /// Does what follows from a change: commits, sends, and reports a new leader.
  mutating func advance(at now: Instant) {
    if case .leading = role { lead(at: now) }
    guard leader != reportedLeader else { return }
    reportedLeader = leader
    emit(.leader(leader))
  }
}

// MARK: - State
extension Replica {
  enum Role: Hashable, Sendable {
    case leading(Leadership)
    case following(Followership)
  }

  struct Leadership: Hashable, Sendable {
    /// A random number that stands in the entries that are appended.
    let term: UInt64
    let since: Instant
    /// Whether the other members of the group that has lost its leader follow this side, or have
    /// had enough time to do so. Nothing is committed before.
    var isSettled = false
    /// A member of that group that does not follow this side yet.
    var awaited: PeerID?
    /// Whether the published roster is out of date.
    var isRosterStale = true
    var lastRoster: Instant?
  }

  struct Followership: Hashable, Sendable {
    let leader: PeerID
    let membership: UInt32
    var heardAt: Instant
  }

  struct Ask: Hashable, Sendable {
    let leader: PeerID
    let number: UInt32
    let deadline: Instant
  }

  /// What is known of a peer that has joined.
  struct PeerRecord: Hashable, Sendable {
    let name: String
    var ballot: Ballot?
    /// Whether the peer was silent when it should have answered, and is silent since.
    var isSuspect = false
    /// Whether no link carries the connection at present.
    var isInterrupted = false
    /// The time since which the peer has been connected with more peers than this side.
    var widerSince: Instant?

    /// Whether the peer has said that it takes no part any more.
    var hasLeft: Bool { ballot?.leader == Ballot.nobody }
    /// Whether the peer takes part in the group, and a link to it works.
    var takesPart: Bool { ballot != nil && !isInterrupted && !hasLeft }
    /// Whether the peer would answer, as far as is known.
    var isPresent: Bool { !isSuspect && !isInterrupted && !hasLeft }
  }

  /// The events of other peers that are given to the leader.
  struct Vouching: Hashable, Sendable {
    var nextAttempt: Instant?
    var attempts = 0
  }
}

extension SeededGenerator {
  /// A number for a term, which is never 0.
  mutating func nextTerm() -> UInt64 { max(next(), 1) }
}
