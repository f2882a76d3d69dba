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

  /// Changes the strings beside the service; browsers are told.
  public func update(txt: TXTRecord) async {
    await discovery.update(id, txt: txt)
  }
}
