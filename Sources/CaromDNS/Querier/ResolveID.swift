/// Which resolving of a querier.
package struct ResolveID: Hashable, Sendable {
  let number: UInt64
}
