import CaromCore
import CaromGroup
import FuzzSupport

/// Runs the input as a script: which peers join and leave, what they send, and what the application
/// does in between. The machine must not trap, must apply entries in order, and must send only what
/// can be decoded.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = fuzzInput(data, count)
  checkDecoding(bytes)
  var script = FuzzScript(bytes)
  var owner = ReplicaOwner()
  while !script.isAtEnd {
    owner.step(&script)
    owner.drain()
  }
  return 0
}

private func checkDecoding(_ bytes: [UInt8]) {
  if let message = try? LedgerMessage(decoding: bytes.span) {
    precondition((try? LedgerMessage(decoding: message.encoded.span)) == message)
  }
  if let roster = try? Roster(decoding: bytes.span) {
    precondition((try? Roster(decoding: roster.encoded.span)) == roster)
  }
  if let ballot = try? Ballot(decoding: bytes.span) {
    precondition((try? Ballot(decoding: ballot.encoded.span)) == ballot)
  }
}

/// A replica, and an owner that does what a script says.
struct ReplicaOwner {
  private var replica: Replica
  private var now = Instant.zero
  private var index: UInt64 = 0
  /// The peers that have joined.
  private var joined: Set<PeerID> = []
  private var snapshots: [UInt32] = []
  /// The numbers that the replica has given to its last request, and to its last member.
  private var request: UInt32 = 0
  private var membership: UInt32 = 0

  init() {
    var options = Replica.Options()
    options.keptEntries = 4
    replica = Replica(
      as: Self.peer(2), name: "fuzzed", options, generator: SeededGenerator(seed: 1), at: now)
  }

  /// One of five peers; peer 2 has the id of this side.
  private static func peer(_ choice: UInt8) -> PeerID { PeerID(high: UInt64(choice % 5), low: 0) }

  mutating func step(_ script: inout FuzzScript) {
    let kind = script.next()
    now = now + .milliseconds(Int(script.next()) * 8)
    if let due = replica.nextTimeout, due <= now { replica.handleTimeout(at: now) }
    let peer = Self.peer(script.next())
    switch kind % 10 {
    case 0:
      guard joined.insert(peer).inserted, peer != replica.local.id else { return }
      replica.handleJoined(peer, name: "peer", at: now)
    case 1:
      guard joined.remove(peer) != nil else { return }
      replica.handleLeft(peer, at: now)
    case 2: kind & 16 == 0 ? interrupt(peer) : resume(peer)
    case 3: _ = replica.submit(script.read(Int(script.next() % 8)), at: now)
    case 4:
      guard let number = snapshots.popLast() else { return }
      if kind & 16 == 0 {
        replica.provideSnapshot(number, script.read(8), at: now)
      } else {
        replica.refuseSnapshot(number, at: now)
      }
    case 5: _ = replica.handOver(to: peer, at: now)
    case 6:
      let bytes = script.read(Int(script.next()))
      if let message = decode(bytes, script.next()) { receive(message, from: peer) }
    default: receive(makeMessage(&script, from: peer), from: peer)
    }
  }

  private mutating func interrupt(_ peer: PeerID) { replica.handleInterrupted(peer, at: now) }
  private mutating func resume(_ peer: PeerID) { replica.handleResumed(peer, at: now) }

  private mutating func receive(_ message: ReplicaMessage, from peer: PeerID) {
    if replica.receive(message, from: peer, at: now) { return }
    // What violates the protocol ends the connection.
    joined.remove(peer)
    replica.handleLeft(peer, at: now)
  }

  private func decode(_ bytes: [UInt8], _ channel: UInt8) -> ReplicaMessage? {
    let channels: [GroupChannel] = [.roster, .election, .ledger]
    return ReplicaMessage(decoding: bytes.span, on: channels[Int(channel % 3)])
  }

  /// A message of a peer that fits what the replica has sent, in most cases.
  private func makeMessage(_ script: inout FuzzScript, from peer: PeerID) -> ReplicaMessage {
    let kind = script.next()
    let (a, b) = (UInt64(script.next()), UInt64(script.next()))
    let position = LedgerPosition(index: a % 16, term: b % 4)
    let source = EventSource(peer: Self.peer(UInt8(b)), incarnation: 1)
    let event = SubmittedEvent(source: source, sequence: 1 + a % 16, bytes: [UInt8(b)])
    switch kind % 14 {
    case 0:
      return .ballot(
        Ballot(
          group: GroupID(named: kind & 16 == 0 ? "" : "other"), leader: Self.peer(UInt8(a)),
          followers: b, reach: b, length: a))
    case 1:
      let members = [peer, replica.local.id].sorted().map {
        RosterMember(id: $0, name: "", incarnation: $0 == peer ? 1 : replica.local.incarnation)
      }
      return .roster(Roster(version: a << (b % 55), leader: peer, members: members))
    case 2:
      return .ledger(
        .join(JoinRequest(number: 1, incarnation: 1, rosterVersion: a, position: position)))
    case 3:
      let start = Welcome.Start(rawValue: UInt8(b % 3)) ?? .afterPosition
      return .ledger(
        .welcome(
          Welcome(membership: 7, request: request, start: start, lastSequence: a % 8)))
    case 4: return .ledger(.refuse(leader: Self.peer(UInt8(a))))
    case 5:
      let entry = LedgerEntry(
        index: index + 1, source: source, sequence: 1 + a % 16, voucher: peer, bytes: [],
        term: b)
      return .ledger(.append(membership: 7, first: index + 1, committed: a, [entry]))
    case 6: return .ledger(.acknowledge(membership: membership, index: a))
    case 7: return .ledger(.submit(membership: membership, isComplete: b & 1 == 0, [event]))
    case 8: return .ledger(.snapshot(membership: 7, position, length: a))
    case 9: return .ledger(.part(membership: 7, [UInt8](repeating: 0, count: Int(a))))
    case 10: return .ledger(.received(membership: membership, length: a))
    case 11: return .ledger(.leave(membership: membership))
    case 12: return .ledger(.withhold(membership: 7))
    default: return .ledger(.remove(membership: 7))
    }
  }

  mutating func drain() {
    while let output = replica.pollOutput() {
      switch output {
      case .send(let message, let peer):
        precondition(peer != replica.local.id, "a message to itself")
        note(message)
      case .applied(let entry):
        precondition(entry.index == index + 1, "entries are applied in order")
        index = entry.index
      case .restored(_, let restored, _): index = restored
      case .snapshotNeeded(let number): snapshots.append(number)
      case .roster(let roster):
        precondition(roster.contains(replica.local.id), "this side is a member")
      case .leader, .stateUnavailable: break
      }
    }
    precondition(replica.appliedIndex == index)
  }

  private mutating func note(_ message: ReplicaMessage) {
    switch message {
    case .ballot(let ballot): precondition((try? Ballot(decoding: ballot.encoded.span)) == ballot)
    case .roster(let roster): precondition((try? Roster(decoding: roster.encoded.span)) == roster)
    case .ledger(let ledger):
      precondition((try? LedgerMessage(decoding: ledger.encoded.span)) == ledger)
      if case .join(let join) = ledger { request = join.number }
      if case .welcome(let welcome) = ledger { membership = welcome.membership }
    }
  }
}
