import CaromCore

// What a member does.
extension Replica {
  /// Continues this side's log where the leader says.
  mutating func follow(_ welcome: Welcome, at now: Instant) {
    vouching = Vouching()
    incoming = nil
    switch welcome.start {
    case .afterPosition:
      keep(log.removeUnapplied())
      acknowledge()
    case .atBeginning:
      restore(nil, at: .zero, SequenceTable())
      acknowledge()
    case .afterSnapshot: break
    }
    submitOwnEvents(after: welcome.lastSequence)
    vouch(at: now)
  }

  /// Remembers the events of entries that this side gives up.
  private mutating func keep(_ entries: [LedgerEntry]) {
    for entry in entries where entry.source != local.source {
      vouched.add(SubmittedEvent(entry))
    }
  }

  private mutating func restore(
    _ snapshot: [UInt8]?, at position: LedgerPosition, _ table: SequenceTable
  ) {
    keep(log.reset(to: position, table))
    vouched.remove(containedIn: table)
    emit(
      .restored(snapshot, index: position.index, ownSequence: table.last(of: local.source)))
  }

  private mutating func acknowledge() {
    guard case .following(let following) = role else { return }
    send(
      .acknowledge(membership: following.membership, index: log.tailIndex), to: following.leader)
  }

  mutating func handleAppend(
    _ entries: [LedgerEntry], from first: UInt64, committed: UInt64
  ) -> Bool {
    guard incoming == nil, first == log.tailIndex + 1 else { return false }
    for entry in entries {
      // Nobody else can have made an event of this side, or changed the order of a submitter's.
      guard entry.sequence > log.tailTable.last(of: entry.source), isGenuine(entry) else {
        return false
      }
      log.append(entry)
      vouched.remove(entry.source, upTo: entry.sequence)
    }
    if !entries.isEmpty { acknowledge() }
    while let entry = log.applyNext(upTo: committed) { emit(.applied(entry)) }
    forgetAppliedEvents()
    return log.tailIndex - log.appliedIndex <= Self.openWindow
  }

  private func isGenuine(_ entry: LedgerEntry) -> Bool {
    guard entry.source == local.source else { return true }
    guard let event = own.first(where: { $0.sequence == entry.sequence }) else {
      return entry.sequence < own.first?.sequence ?? lastOwnSequence + 1
    }
    return event.bytes == entry.bytes
  }

  mutating func handle(_ roster: Roster, from peer: PeerID) -> Bool {
    guard roster.leader == peer else { return false }
    guard case .following(let following) = role, following.leader == peer,
      roster.version > rosterVersion, roster[local.id]?.incarnation == local.incarnation
    else { return true }
    // No group has that many changes between two rosters of one member.
    guard rosterVersion == 0 || roster.version - rosterVersion < 1 << 40 else { return false }
    rosterVersion = roster.version
    setRoster(roster)
    return true
  }

  mutating func handleSnapshot(at position: LedgerPosition, length: UInt64) -> Bool {
    let limit = Self.snapshotLimit + SequenceTable.maximumLength
    guard incoming == nil, (1...UInt64(limit)).contains(length) else { return false }
    incoming = IncomingSnapshot(position: position, length: Int(length))
    return true
  }

  mutating func handlePart(_ bytes: [UInt8]) -> Bool {
    guard incoming != nil, case .following(let following) = role else { return false }
    incoming?.bytes += bytes
    guard let snapshot = incoming, !bytes.isEmpty, snapshot.bytes.count <= snapshot.length else {
      return false
    }
    send(
      .received(membership: following.membership, length: UInt64(snapshot.bytes.count)),
      to: following.leader)
    guard snapshot.bytes.count == snapshot.length else { return true }
    incoming = nil
    var reader = PacketReader(snapshot.bytes.span)
    guard let table = try? SequenceTable(decoding: &reader) else { return false }
    restore(reader.readRest(), at: snapshot.position, table)
    acknowledge()
    return true
  }
}
