/// Which query for records of a querier.
package struct QueryID: Hashable, Sendable {
  let number: UInt64
}
