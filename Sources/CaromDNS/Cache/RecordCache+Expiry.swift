import CaromCore

extension RecordCache {
  /// The ages at which a wanted record is queried again, in thousandths of its time to live (RFC
  /// 6762 §5.2).
  static let refreshPoints: [Int64] = [800, 850, 900, 950]
  /// The age below which a record is not refreshed, so that very short times to live do not cause
  /// polling.
  static let refreshFloor = Duration.seconds(15)
  /// The time within which two unanswered queries mean that a record is gone (RFC 6762 §10.5).
  static let observationWindow = Duration.seconds(10)
  /// The minimum time from the second unanswered query to the expiry, so that a late answer still
  /// counts.
  static let answerTimeout = Duration.seconds(2)

  /// The next time at which `handleTimeout` must be called, or nil if no timer is armed.
  package var nextTimeout: Instant? { timers.nextDeadline }

  /// Processes and returns the next refresh or expiry that is due, or returns nil if there is none.
  /// Call this method until it returns nil. `isWanted` returns whether an active question asks for
  /// a key; other records are not refreshed.
  package mutating func handleTimeout(
    at now: Instant, isWanted: (RecordKey) -> Bool
  ) -> Event? {
    while let timer = timers.popFirst(until: now) {
      guard let slot = slots[timer.id], slot.entry.serial == timer.serial else { continue }
      if slot.entry.expires <= now {
        _ = remove(timer.id)
        return .expired(slot.setKey, slot.entry.record)
      }
      slots[timer.id]?.entry.refreshes += 1
      schedule(timer.id)
      let age = slot.entry.received.duration(to: now)
      if age >= Self.refreshFloor, isWanted(slot.setKey.key) { return .refresh(slot.setKey) }
    }
    return nil
  }

  /// Removes all records received on an interface and returns them, oldest first.
  package mutating func removeAll(on interface: UInt32) -> [(SetKey, Record)] {
    ids(on: interface).compactMap { remove($0) }.map { ($0.setKey, $0.entry.record) }
  }

  /// Shortens the remaining life of those records in a set for which `isAffected` returns true:
  /// they expire within `rest` unless they are received again (RFC 6762 §10.4).
  package mutating func reconfirm(
    _ setKey: SetKey, for rest: Duration, at now: Instant, _ isAffected: (Record) -> Bool
  ) {
    for id in ids(at: setKey) {
      guard let record = slots[id]?.entry.record, isAffected(record) else { continue }
      shortenLife(id, to: rest, at: now)
    }
  }

  /// Shortens the remaining life of all records of an interface: they expire within `rest` unless
  /// they are received again.
  mutating func reconfirmAll(on interface: UInt32, for rest: Duration, at now: Instant) {
    for id in ids(on: interface) { shortenLife(id, to: rest, at: now) }
  }

  /// Observes another host's query for the records at `setKey`, in which it listed the records in
  /// `known` as known answers. The other records expire if a second such query within ten seconds
  /// also remains unanswered (passive observation of failures, RFC 6762 §10.5).
  package mutating func observeQuery(
    for setKey: SetKey, known: Set<Record.Identity>, at now: Instant
  ) {
    for id in ids(at: setKey) {
      guard let entry = slots[id]?.entry, !entry.isExpiring, !known.contains(entry.record.identity),
        // A record that was just multicast is not sent again at once (RFC 6762 §6).
        now - entry.received >= Self.gracePeriod
      else { continue }
      guard let unanswered = entry.unanswered, now - unanswered.since <= Self.observationWindow
      else {
        slots[id]?.entry.unanswered = (now, false)
        continue
      }
      guard !unanswered.isRepeated else { continue }
      slots[id]?.entry.unanswered?.isRepeated = true
      let end = max(unanswered.since + Self.observationWindow, now + Self.answerTimeout)
      shortenLife(id, to: now.duration(to: end), at: now, marksExpiring: false)
    }
  }

  private func ids(at setKey: SetKey) -> [Int] {
    var list: [Int] = []
    var id = sets[setKey]?.first
    while let next = id {
      list.append(next)
      id = slots[next]?.next
    }
    return list
  }

  /// Moves the expiry of a record that is about to expire to `end`, unless the record already
  /// expires later.
  mutating func postponeExpiry(of record: Record, on interface: UInt32, to end: Instant) {
    let key = EntryKey(interface: interface, identity: record.identity)
    guard let id = slotIndices[key], var entry = slots[id]?.entry, entry.isExpiring,
      entry.expires < end
    else { return }
    entry.expires = end
    entry.serial = makeSerial()
    slots[id]?.entry = entry
    schedule(id)
  }

  /// Makes a record expire within `rest`, without any further refresh. If `marksExpiring` is true,
  /// sets the record's `isExpiring`.
  mutating func shortenLife(
    _ id: Int, to rest: Duration, at now: Instant, marksExpiring: Bool = true
  ) {
    guard var entry = slots[id]?.entry else { return }
    entry.expires = min(entry.expires, now.advanced(by: rest))
    entry.isExpiring = entry.isExpiring || marksExpiring
    entry.refreshes = UInt8(Self.refreshPoints.count)
    entry.serial = makeSerial()
    slots[id]?.entry = entry
    schedule(id)
  }

  mutating func schedule(_ id: Int) {
    guard let entry = slots[id]?.entry else { return }
    if timers.count > 256, timers.count > 2 * count {
      let slots = slots
      timers.removeAll { slots[$0.id]?.entry.serial != $0.serial }
    }
    timers.insert(Timer(id: id, serial: entry.serial), at: Self.deadline(of: entry))
  }

  /// Returns the time of a record's next refresh or of its expiry. Refreshes are rounded up to a
  /// multiple of one hundredth of the time to live, so that records that arrived together are
  /// queried together.
  private static func deadline(of entry: Entry) -> Instant {
    guard entry.refreshes < refreshPoints.count else { return entry.expires }
    let life = entry.received.duration(to: entry.expires)
    let due = entry.received.advanced(
      by: life / 1000 * (refreshPoints[Int(entry.refreshes)] + Int64(entry.jitter)))
    let step = max(1, (life / 100).wholeNanoseconds)
    let late = due.nanoseconds % step
    return late <= 0 ? due : due.advanced(byNanoseconds: step - late)
  }
}
