import CaromDNS

/// A domain that a host on the link or a name server recommends (RFC 6763 §11).
public struct DiscoveredDomain: Hashable, Sendable, Identifiable {
  /// The domain's name, such as "example.com".
  public let name: String
  /// The indices of the interfaces on which the recommendation was found, in ascending order; empty
  /// if only name servers recommend the domain.
  public let interfaces: [UInt32]

  init(_ found: FoundName) {
    name = found.name.description
    interfaces = found.interfaces
  }

  /// The name in lower case: names that differ only in case are equal.
  public var id: String { name.lowercased() }
}
