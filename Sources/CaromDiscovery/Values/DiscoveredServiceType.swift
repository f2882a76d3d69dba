import CaromDNS

/// A type of service that somebody on the link offers (RFC 6763 §9).
public struct DiscoveredServiceType: Hashable, Sendable, Identifiable {
  /// As it was heard: "_airhockey._tcp".
  public let name: String
  /// The type to browse for; `nil` where the name breaks the rules for types.
  public let type: ServiceType?
  /// The indices of the interfaces that it was heard on, ascending.
  public let interfaces: [UInt32]

  init(_ found: FoundName) {
    let labels = found.name.labels
    let isLocal = labels.last.map { $0.elementsEqual("local".utf8) } ?? false
    let label = (try? Name(labels: isLocal ? labels.dropLast() : labels)) ?? found.name
    name = label.description
    type = try? ServiceType(label.description)
    interfaces = found.interfaces
  }

  /// What makes two the same.
  public var id: String { name.lowercased() }
}
