import CaromDNS

/// A domain that somebody recommends (RFC 6763 §11).
public struct DiscoveredDomain: Hashable, Sendable, Identifiable {
  /// Its name: "example.com".
  public let name: String
  /// The indices of the interfaces that it was heard on, ascending.
  public let interfaces: [UInt32]

  init(_ found: FoundName) {
    name = found.name.description
    interfaces = found.interfaces
  }

  /// What makes two the same.
  public var id: String { name.lowercased() }
}
