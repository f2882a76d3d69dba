/// Why it is not known where a service listens.
package enum ResolveFailure: Error, Hashable, Sendable {
  /// The deadline passed, and nobody said anything of the service: it may be gone.
  case noAnswer
  /// Its host is known, but no address of that; before the deadline if the host says that it
  /// has none.
  case noAddress(host: Name)
  /// Its host says that it is not offered (RFC 2782, target "."), or that it has no such record.
  case notOffered
  /// As many are resolved already as one querier resolves at a time: wait for one of them.
  case tooMany
}
