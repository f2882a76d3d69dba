import CaromDNS

/// The records of a zone, which updates change as RFC 2136 §3 specifies.
struct ZoneModel {
  private(set) var records: [Record] = []
  /// The number of updates that have changed records.
  private(set) var changes = 0

  /// Makes an update, or returns the error that a server reports.
  mutating func apply(_ update: DynamicUpdate) -> UnicastError? {
    for prerequisite in update.prerequisites {
      if let error = violation(of: prerequisite, in: update) { return error }
    }
    let before = records
    for change in update.changes { apply(change) }
    if records != before { changes += 1 }
    return nil
  }

  private func violation(of prerequisite: Record, in update: DynamicUpdate) -> UnicastError? {
    let found = records.filter { $0.name == prerequisite.name }
    switch (prerequisite.recordClass, prerequisite.type) {
    case (254, .any): return found.isEmpty ? nil : .nameInUse
    case (254, let type):
      return found.contains { $0.type == type } ? .prerequisiteFailed : nil
    default:
      let expected = update.prerequisites.filter { $0.key == prerequisite.key }.map(\.data)
      let actual = found.filter { $0.type == prerequisite.type }.map(\.data)
      return Set(actual) == Set(expected) ? nil : .prerequisiteFailed
    }
  }

  private mutating func apply(_ change: Record) {
    switch change.recordClass {
    case 255:
      records.removeAll {
        $0.name == change.name && (change.type == .any || $0.type == change.type)
      }
    case 254: records.removeAll { $0.identity == change.identity }
    default:
      records.removeAll { $0.identity == change.identity }
      records.append(change)
    }
  }

  /// The records of `type` under `name`.
  func data(_ name: Name, _ type: RecordType) -> [RecordData] {
    records.filter { $0.key == RecordKey(name, type) }.map(\.data)
  }

  /// The names that a PTR record under `name` points to.
  func pointers(_ name: Name) -> [Name] {
    data(name, .ptr).compactMap { if case .pointer(let target) = $0 { target } else { nil } }
  }

  /// The lease of a service.
  func lease(of instance: Name) -> Lease? {
    guard let name = try? Lease.name(of: instance), case .text(let bytes)? = data(name, .txt).first
    else { return nil }
    return Lease(decoding: bytes)
  }
}
