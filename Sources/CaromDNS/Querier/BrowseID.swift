/// Which browsing of a querier.
package struct BrowseID: Hashable, Sendable {
  let number: UInt64
}
