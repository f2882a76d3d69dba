import CaromCore

/// What is owned on one link, by name and by identity, and when each record was said.
///
/// A record keeps its slot as long as somebody has it. There are as many as the services make:
/// nothing that comes from the link adds any.
struct OwnedRecords: Sendable {
  /// A record of ours and what was and will be said of it.
  struct Entry: Sendable {
    let owned: OwnedRecord
    /// How many of our claims have it: pointers from a type to its name are shared among ours too.
    var users = 1
    /// When it was last multicast.
    var lastSent: Instant?
    /// The batch of answers that it waits in.
    var batch: UInt64?

    var record: Record { owned.record }
  }

  private var slots: [Entry?] = []
  private var free: [Int] = []
  private var places: [Record.Identity: Int] = [:]
  private var names: [Name: [Int]] = [:]

  /// How many records there are.
  var count: Int { places.count }

  /// What is in a slot; `nil` where it was freed.
  subscript(slot: Int) -> Entry? { slots[slot] }

  func slot(of identity: Record.Identity) -> Int? { places[identity] }

  /// The records under a name, in the order in which they came.
  func slots(of name: Name) -> [Int] { names[name] ?? [] }

  func has(_ name: Name) -> Bool { names[name] != nil }

  mutating func setBatch(_ batch: UInt64?, of slot: Int) { slots[slot]?.batch = batch }

  /// It was multicast: nobody waits for it any more.
  mutating func markSent(_ slot: Int, at now: Instant) {
    slots[slot]?.lastSent = now
    slots[slot]?.batch = nil
  }

  mutating func insert(_ records: [OwnedRecord]) {
    for owned in records {
      let identity = owned.record.identity
      if let slot = places[identity] {
        slots[slot]?.users += 1
        continue
      }
      let slot = free.popLast() ?? slots.count
      if slot == slots.count { slots.append(nil) }
      slots[slot] = Entry(owned: owned)
      places[identity] = slot
      names[owned.record.name, default: []].append(slot)
    }
  }

  /// Takes one user off each; gives the records that nobody has any more.
  mutating func remove(_ records: [OwnedRecord]) -> [OwnedRecord] {
    var gone: [OwnedRecord] = []
    for owned in records {
      let identity = owned.record.identity
      guard let slot = places[identity], let entry = slots[slot] else { continue }
      slots[slot]?.users -= 1
      guard entry.users == 1 else { continue }
      gone.append(entry.owned)
      slots[slot] = nil
      free.append(slot)
      places[identity] = nil
      names[owned.record.name]?.removeAll { $0 == slot }
      if names[owned.record.name]?.isEmpty == true { names[owned.record.name] = nil }
    }
    return gone
  }
}
