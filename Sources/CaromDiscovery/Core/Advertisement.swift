import CaromDNS

/// A service that is visible on the network, passed to the body of `ServiceAdvertiser.run`.
public struct Advertisement: Sendable {
  /// The name under which the service became visible: the requested name, or "X (2)" if another
  /// service already has the name "X".
  public let name: String
  /// The names that the service takes later: after it has lost its name to another host, and after
  /// `rename(to:)`. The sequence throws an error if no free name is found.
  public let renames: LatestValues<String>
  let publication: Publication

  /// Replaces the service's TXT record. Queries are answered with the new record once this method
  /// returns; in a domain, once the name server has made the change, which follows at once. On the
  /// link, changes are announced to other hosts within 1.5 s of the last one, however many there
  /// are.
  public func update(txt: TXTRecord) async throws(DiscoveryError) {
    try await publication.update(txt: txt)
  }

  /// Replaces the subtypes under which the service is found.
  public func update(subtypes: [String]) async throws(DiscoveryError) {
    try await publication.update(subtypes: subtypes)
  }

  /// Renames the service: sends goodbye records for the old name, or removes it from the domain,
  /// and claims the new one, which `renames` delivers once it is established.
  public func rename(to name: String) async throws(DiscoveryError) {
    try await publication.rename(to: name)
  }
}
