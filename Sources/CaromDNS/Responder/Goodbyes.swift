/// Records that are ours no more, by link (RFC 6762 §10.1).
struct Goodbyes: Sendable {
  private(set) var records: [UInt32: [Record]] = [:]

  /// The NSEC needs none: nobody keeps it when the records that it speaks of are gone.
  mutating func add(_ owned: [OwnedRecord], on link: UInt32) {
    for owned in owned where owned.role != .absence {
      var record = owned.record
      record.timeToLive = 0
      records[link, default: []].append(record)
    }
  }
}
