/// The reason why a service could not be resolved.
package enum ResolveFailure: Error, Hashable, Sendable {
  /// The deadline passed without any response about the service, which may be gone.
  case noAnswer
  /// The service's host is known, but none of its addresses was found by the deadline, or the host
  /// reported that it has none.
  case noAddress(host: Name)
  /// The service's host reports that the service is not offered (RFC 2782, target "."), or that it
  /// has no SRV record.
  case notOffered
  /// The maximum number of concurrent resolve operations is running. Wait for one to finish.
  case tooMany
}
