/// Which browsing of a querier.
package struct BrowseID: Hashable, Sendable {
  let number: UInt64
}

/// What one browsing has found so far. It holds what the cache holds, and is bounded with it.
struct Browse: Sendable {
  /// What is asked for.
  let key: RecordKey
  /// Before which name the instances stand; `nil` where types or domains are listed.
  let base: Name?
  /// The services that were reported and are still there.
  var services: [Name: FoundService] = [:]
  /// The same for types and domains.
  var names: [Name: FoundName] = [:]

  init(_ target: BrowseTarget) throws(NameError) {
    key = RecordKey(try target.name(), .ptr)
    base = try target.base()
  }
}
