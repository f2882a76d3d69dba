/// Which question to name servers.
package struct UnicastQueryID: Hashable, Sendable {
  let number: UInt64
}
