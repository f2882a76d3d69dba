import CaromCore

/// The entries that one side has: those that are applied, of which the last ones are kept, and
/// those that are not committed yet.
struct EventLog: Sendable {
  /// The maximum number of entries that are kept, unless more are not applied yet: for members that
  /// have missed some, and for a group that this one merges with.
  let entryLimit: Int
  /// The maximum memory that the applied entries take, in bytes, about.
  static let byteLimit = 4 << 20

  /// The position of the last entry that is not kept any more.
  private(set) var base = LedgerPosition.zero
  private var entries = Deque<LedgerEntry>()
  /// The index of the last applied entry.
  private(set) var appliedIndex: UInt64 = 0
  /// The last events of the applied entries, and of all entries.
  private(set) var appliedTable = SequenceTable()
  private(set) var tailTable = SequenceTable()
  private var cost = 0

  init(keeping entryLimit: Int) { self.entryLimit = entryLimit }

  /// The index of the last entry.
  var tailIndex: UInt64 { base.index + UInt64(entries.count) }
  /// The position of the last applied entry.
  var applied: LedgerPosition { position(at: appliedIndex) ?? base }

  /// Returns the entry at an index, or nil if it is not kept or does not exist.
  subscript(index: UInt64) -> LedgerEntry? {
    guard index > base.index, index <= tailIndex else { return nil }
    return entries[Int(index - base.index) - 1]
  }

  /// Returns the position of an entry, or nil if it is unknown.
  func position(at index: UInt64) -> LedgerPosition? {
    index == base.index ? base : self[index]?.position
  }

  func contains(_ position: LedgerPosition) -> Bool {
    self.position(at: position.index) == position
  }

  /// Appends an entry. Its index must be the next one.
  mutating func append(_ entry: LedgerEntry) {
    precondition(entry.index == tailIndex + 1, "entries are appended in order")
    entries.append(entry)
    tailTable.add(entry)
    cost += entry.cost
  }

  /// Applies the next entry and returns it, or nil if there is none up to `limit`.
  mutating func applyNext(upTo limit: UInt64) -> LedgerEntry? {
    guard appliedIndex < limit, let entry = self[appliedIndex + 1] else { return nil }
    appliedIndex += 1
    appliedTable.add(entry)
    trim()
    return entry
  }

  /// Removes and returns the entries that are not applied.
  mutating func removeUnapplied() -> [LedgerEntry] {
    var removed: [LedgerEntry] = []
    while tailIndex > appliedIndex, let entry = entries.popLast() {
      cost -= entry.cost
      removed.append(entry)
    }
    tailTable = appliedTable
    return removed.reversed()
  }

  /// Begins again at a position with the last events at it. Returns all entries that were kept.
  mutating func reset(to position: LedgerPosition, _ table: SequenceTable) -> [LedgerEntry] {
    let kept = Array(entries)
    self = EventLog(keeping: entryLimit)
    base = position
    appliedIndex = position.index
    appliedTable = table
    tailTable = table
    return kept
  }

  private mutating func trim() {
    while let first = entries.first, first.index < appliedIndex,
      entries.count > entryLimit || cost > Self.byteLimit
    {
      base = first.position
      cost -= first.cost
      entries.popFirst()
    }
  }
}
