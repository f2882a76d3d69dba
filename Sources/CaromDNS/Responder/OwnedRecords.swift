import CaromCore

/// The records that the responder publishes on one link, by name and by identity, with the times at
/// which they were sent.
///
/// A record keeps its slot as long as any claim uses it. Only publications add records; received
/// messages never do.
struct OwnedRecords: Sendable {
  /// A published record and its sending state.
  struct Entry: Sendable {
    let owned: OwnedRecord
    /// The number of claims that use the record. For example, several claims share the PTR record
    /// that enumerates their service type.
    var users = 1
    /// The time at which the record was last multicast, or nil if it never was.
    var lastSent: Instant?
    /// The number of the batch of pending answers that contains the record, or nil if none does.
    var batch: UInt64?
    /// The timer of the record's announcements, or nil for an NSEC record, which is not announced.
    var announcer: Announcer?

    var record: Record { owned.record }
  }

  private var slots: [Entry?] = []
  private var free: [Int] = []
  private var slotsByIdentity: [Record.Identity: Int] = [:]
  private var slotsByName: [Name: [Int]] = [:]

  /// The number of records.
  var count: Int { slotsByIdentity.count }

  /// The record in a slot, or nil if the slot is free.
  subscript(slot: Int) -> Entry? { slots[slot] }

  func slot(of identity: Record.Identity) -> Int? { slotsByIdentity[identity] }

  /// Returns the slots of the records under a name, in the order in which they were added.
  func slots(of name: Name) -> [Int] { slotsByName[name] ?? [] }

  func has(_ name: Name) -> Bool { slotsByName[name] != nil }

  mutating func setBatch(_ batch: UInt64?, of slot: Int) { slots[slot]?.batch = batch }

  /// Stores the time at which the record was multicast, and removes the record from its batch.
  mutating func markSent(_ slot: Int, at now: Instant) {
    slots[slot]?.lastSent = now
    slots[slot]?.batch = nil
  }

  /// Adds records. The first announcement of those that no claim uses yet is due at `start`.
  mutating func insert(_ records: [OwnedRecord], announcedAt start: Instant) {
    for owned in records {
      let identity = owned.record.identity
      if let slot = slotsByIdentity[identity] {
        slots[slot]?.users += 1
        continue
      }
      let slot = free.popLast() ?? slots.count
      if slot == slots.count { slots.append(nil) }
      let announcer = owned.role == .denial ? nil : Announcer(start: start)
      slots[slot] = Entry(owned: owned, announcer: announcer)
      slotsByIdentity[identity] = slot
      slotsByName[owned.record.name, default: []].append(slot)
    }
  }

  /// Decrements the use count of each record, and returns the records that are no longer used by
  /// any claim.
  mutating func remove(_ records: [OwnedRecord]) -> [OwnedRecord] {
    var removed: [OwnedRecord] = []
    for owned in records {
      let identity = owned.record.identity
      guard let slot = slotsByIdentity[identity], let entry = slots[slot] else { continue }
      slots[slot]?.users -= 1
      guard entry.users == 1 else { continue }
      removed.append(entry.owned)
      slots[slot] = nil
      free.append(slot)
      slotsByIdentity[identity] = nil
      slotsByName[owned.record.name]?.removeAll { $0 == slot }
      if slotsByName[owned.record.name]?.isEmpty == true { slotsByName[owned.record.name] = nil }
    }
    return removed
  }
}

// MARK: - Announcements

extension OwnedRecords {
  /// Returns those of `records` whose announcement is due, and counts them as announced.
  mutating func popDueAnnouncements(of records: [OwnedRecord], at now: Instant) -> [Record] {
    records.compactMap { owned in
      guard let slot = slot(of: owned.record.identity), let entry = self[slot],
        let due = Self.announcementTime(of: entry), due <= now
      else { return nil }
      _ = slots[slot]?.announcer?.handleTimeout(at: now)
      return entry.record
    }
  }

  /// Returns the time of the next announcement of `records`, or nil if all have been announced.
  func nextAnnouncement(of records: [OwnedRecord]) -> Instant? {
    records.lazy.compactMap { owned in
      self.slot(of: owned.record.identity).flatMap { self[$0] }.flatMap(Self.announcementTime)
    }.min()
  }

  /// Returns the time at which a record is announced next. A record is not multicast twice within
  /// a second (RFC 6762 §6), so an answer postpones its announcement.
  private static func announcementTime(of entry: Entry) -> Instant? {
    guard let next = entry.announcer?.nextTimeout else { return nil }
    guard let sent = entry.lastSent else { return next }
    return max(next, sent.advanced(by: ResponderLink.repeatInterval))
  }
}
