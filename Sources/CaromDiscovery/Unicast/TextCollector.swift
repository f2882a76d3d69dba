import CaromDNS

/// The current TXT record of a service, chosen from the records that a name server returns. A
/// service has one TXT record, but a server may return several, for example while the record is
/// being changed.
struct TextCollector: Sendable {
  private var records: [Record] = []

  /// The TXT record that was added last, or nil if there is none.
  var text: TXTRecord? {
    guard case .text(let bytes) = records.last?.data else { return nil }
    return TXTRecord(decoding: bytes)
  }

  /// Applies changes that were reported together. Returns whether `text` changed.
  mutating func apply(_ changes: [UnicastMonitor.Change]) -> Bool {
    let before = text
    for change in changes {
      switch change {
      case .added(let record):
        if case .text = record.data { records.append(record) }
      case .removed(let record): records.removeAll { $0.identity == record.identity }
      }
    }
    return text != before
  }
}
