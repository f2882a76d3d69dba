/// What one browsing has found so far.
struct Browse: Sendable {
  /// Services that one browsing reports at most, so that junk cannot use up memory.
  static let limit = 8192

  let id: BrowseID
  let key: RecordKey
  /// What was reported and is still there.
  var found: [Name: FoundService] = [:]
  /// The same names in the order in which they came.
  var order: [Name] = []

  mutating func remove(_ name: Name) {
    found[name] = nil
    order.removeAll { $0 == name }
  }
}
