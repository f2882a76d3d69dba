/// Identifies a browse operation of a querier.
package struct BrowseID: Hashable, Sendable {
  let number: UInt64
}

/// The state of a browse operation: the services or names found so far. Its size is bounded by the
/// size of the cache.
struct Browse: Sendable {
  /// The name and the type of the PTR records that the browse operation asks for.
  let key: RecordKey
  /// The name that follows the instance in each service's name, or nil if the operation lists types
  /// or domains.
  let base: Name?
  /// The services that were reported as added and not yet as removed.
  var services: [Name: FoundService] = [:]
  /// The types or domains that were reported as added and not yet as removed.
  var names: [Name: FoundName] = [:]

  init(_ target: BrowseTarget) throws(NameError) {
    key = RecordKey(try target.name(), .ptr)
    base = try target.base()
  }
}
