import CaromDNS

/// A service type that is offered on the link (RFC 6763 §9).
public struct DiscoveredServiceType: Hashable, Sendable, Identifiable {
  /// The type as it was received, such as "_airhockey._tcp".
  public let name: String
  /// The type to browse for; nil if `name` is not a valid service type.
  public let type: ServiceType?
  /// The indices of the interfaces on which the type was found, in ascending order.
  public let interfaces: [UInt32]

  init(_ found: FoundName) {
    let labels = found.name.labels
    let isLocal = labels.last.map { $0.elementsEqual("local".utf8) } ?? false
    let label = (try? Name(labels: isLocal ? labels.dropLast() : labels)) ?? found.name
    name = label.description
    type = try? ServiceType(label.description)
    interfaces = found.interfaces
  }

  /// The name in lower case: names that differ only in case are equal.
  public var id: String { name.lowercased() }
}
