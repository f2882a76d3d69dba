import CaromCore

// Events on their way into the log.
extension Replica {
  /// The maximum number of this side's events that are not applied yet.
  package static let openLimit = 256
  /// The maximum length of this side's events that are not applied yet, in bytes.
  package static let openByteLimit = 262_144
  /// The number of this side's applied events that are kept, in case that this side comes to a
  /// group which does not have them.
  static let ownLimit = 1024
  /// The maximum number of events of absent peers that are under way to the leader.
  private static let vouchLimit = 128
  /// The maximum number of them in the log that are not applied yet.
  private static let openVouchedLimit = 512

  /// Submits an event for the ledger. Returns its sequence number, or nil if too many events are
  /// not applied yet. The event is applied here when it is applied everywhere, also if the leader
  /// changes meanwhile. At most 16,384 bytes.
  package mutating func submit(_ bytes: [UInt8], at now: Instant) -> UInt64? {
    precondition(bytes.count <= LedgerEntry.maximumLength, "an event has at most 16,384 bytes")
    guard hasRoom(for: bytes.count) else { return nil }
    lastOwnSequence += 1
    let event = SubmittedEvent(source: local.source, sequence: lastOwnSequence, bytes: bytes)
    own.append(event)
    switch role {
    case .leading: append(event, voucher: local.id)
    case .following(let following):
      send(
        .submit(membership: following.membership, isComplete: true, [event]), to: following.leader)
    }
    advance(at: now)
    forgetAppliedEvents()
    return lastOwnSequence
  }

  private func hasRoom(for length: Int) -> Bool {
    let open = Int(lastOwnSequence - min(appliedOwnSequence, lastOwnSequence))
    let openBytes = own.suffix(open).reduce(0) { $0 + $1.bytes.count }
    return open < Self.openLimit && openBytes + length <= Self.openByteLimit
  }

  /// Whether an event of any length can be submitted now.
  package var hasRoom: Bool { hasRoom(for: LedgerEntry.maximumLength) }

  /// The number of this side's last event that is applied.
  package var appliedOwnSequence: UInt64 { log.appliedTable.last(of: local.source) }

  mutating func forgetAppliedEvents() {
    let applied = log.appliedTable.last(of: local.source)
    while own.count > Self.ownLimit, let first = own.first, first.sequence <= applied {
      own.popFirst()
    }
  }

  /// Appends this side's events that its own log does not contain.
  mutating func appendOwnEvents() {
    let last = log.tailTable.last(of: local.source)
    for event in own where event.sequence > last { append(event, voucher: local.id) }
  }

  mutating func submitOwnEvents(after sequence: UInt64) {
    guard case .following(let following) = role else { return }
    var events = own.filter { $0.sequence > sequence }[...]
    while !events.isEmpty {
      let batch = takeBatch(&events)
      send(
        .submit(membership: following.membership, isComplete: true, batch), to: following.leader)
    }
  }

  private func takeBatch(_ events: inout ArraySlice<SubmittedEvent>) -> [SubmittedEvent] {
    var batch: [SubmittedEvent] = []
    var length = 0
    while let event = events.first, batch.count < 256, length < 131_072 {
      batch.append(event)
      length += event.bytes.count
      events.removeFirst()
    }
    return batch
  }

  /// Gives the leader the events of absent peers that it may not have, or appends them as the
  /// leader. Events after a gap wait for the next attempt: another member may have the missing
  /// ones.
  mutating func vouch(at now: Instant) {
    guard !vouched.isEmpty, incoming == nil else { return }
    if let next = vouching.nextAttempt, now < next { return }
    let mayHaveGaps = vouching.attempts > 0
    let absent = vouched.events.filter { !isResponsible($0.source) }
    switch role {
    case .leading(let leadership):
      guard leadership.isSettled else { return }
      for event in absent where isNext(event, mayHaveGaps) { append(event, voucher: local.id) }
    case .following(let following):
      var events = absent.prefix(Self.vouchLimit)
      while !events.isEmpty {
        let batch = takeBatch(&events)
        send(
          .submit(membership: following.membership, isComplete: !mayHaveGaps, batch),
          to: following.leader)
      }
    }
    vouching.attempts += 1
    vouching.nextAttempt = now + options.vouchInterval
  }

  /// Whether the submitter itself is a member, which submits its events again.
  private func isResponsible(_ source: EventSource) -> Bool {
    switch role {
    case .leading: source == local.source || members[source.peer]?.source == source
    case .following: roster?[source.peer]?.source == source
    }
  }

  private func isNext(_ event: SubmittedEvent, _ mayHaveGaps: Bool) -> Bool {
    let last = log.tailTable.last(of: event.source)
    return mayHaveGaps ? event.sequence > last : event.sequence == last + 1
  }

  mutating func handleSubmission(
    _ events: [SubmittedEvent], isComplete: Bool, from peer: PeerID, _ membership: UInt32
  ) -> Bool {
    guard let member = members[peer], member.membership == membership else { return true }
    for event in events {
      if event.source.peer == peer, event.source.incarnation == member.source.incarnation {
        guard isNext(event, true) else { continue }
      } else {
        guard !isResponsible(event.source), isNext(event, !isComplete),
          openEvents.vouched(by: peer) < Self.openVouchedLimit
        else { continue }
      }
      append(event, voucher: peer)
      guard openEvents.own(of: peer) <= Self.ownLimit + Self.openLimit else { return false }
    }
    return true
  }
}
