import CaromDNS

/// A service that is visible: what the body of `ServiceAdvertiser.run` is given.
public struct Advertisement: Sendable {
  /// The name that it became visible under: the asked one, or "X (2)" where that was taken.
  public let name: String
  /// The names that it takes later, when another host turns out to have its own; ends with an
  /// error when it has none left.
  public let renames: Latest<String>
  let discovery: DiscoveryActor
  let id: DiscoveryCore.AdvertisingID

  /// Changes the strings beside the service; browsers are told. What changes more than ten times
  /// a minute is told to others later, and then as it is by then.
  public func update(txt: TXTRecord) async throws(DiscoveryError) {
    try await discovery.update(id, txt: txt)
  }

  /// Changes the narrower types that the service is found under.
  public func update(subtypes: [String]) async throws(DiscoveryError) {
    try await discovery.update(id, subtypes: subtypes)
  }

  /// Takes another name: the old one gets a goodbye, and the new one is in `renames` once it is
  /// won.
  public func rename(to name: String) async throws(DiscoveryError) {
    try await discovery.rename(id, to: name)
  }
}
