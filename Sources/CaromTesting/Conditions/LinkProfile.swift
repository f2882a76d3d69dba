import CaromCore

/// What lies between two hosts, both ways: a row of the table that a game should pass.
public struct LinkProfile: Hashable, Sendable, CustomStringConvertible {
  /// What the row is called.
  public let name: String
  /// From the first host to the second: the way of a client, and of bulk.
  public let outbound: LinkConditions
  /// From the second host to the first: the way of a server, and of acknowledgements.
  public let inbound: LinkConditions

  /// The same conditions both ways.
  public init(_ name: String, _ conditions: LinkConditions) {
    self.init(name, outbound: conditions, inbound: conditions)
  }

  /// Conditions for each way.
  public init(_ name: String, outbound: LinkConditions, inbound: LinkConditions) {
    self.name = name
    self.outbound = outbound
    self.inbound = inbound
  }

  /// The name.
  public var description: String { name }

  /// Every row: the networks that games meet, and one trouble each. The figures stand with the
  /// conditions of the same name; only the client is behind a translator, and `lossy
  /// acknowledgements` loses on the way back alone.
  public static let table = [
    LinkProfile("lan", .lan), LinkProfile("wifi", .wifi), LinkProfile("good", .good),
    LinkProfile("average", .average), LinkProfile("mobile", .mobile), LinkProfile("poor", .poor),
    LinkProfile("terrible", .terrible), LinkProfile("reorder-storm", .reorderStorm),
    LinkProfile("soak", .soak), LinkProfile("satellite", .satellite),
    LinkProfile("bursts", .bursts), LinkProfile("bufferbloat", .bufferbloat),
    LinkProfile("blackouts", .blackouts),
    LinkProfile("rebinding", outbound: .rebinding, inbound: .good),
    LinkProfile("shrinking-mtu", .shrinkingMTU),
    LinkProfile("lossy-acknowledgements", outbound: .good, inbound: .lossyAcknowledgements),
  ]

  /// The row of that name alone, or every row where there is no name.
  public static func table(only name: String?) -> [LinkProfile] {
    guard let name else { return table }
    let rows = table.filter { $0.name == name }
    precondition(!rows.isEmpty, "no row is called \(name)")
    return rows
  }
}

extension VirtualNetwork {
  /// Lays a profile between two hosts.
  public mutating func setProfile(
    _ profile: LinkProfile, from first: VirtualHost, to second: VirtualHost
  ) {
    setConditions(profile.outbound, from: first, to: second)
    setConditions(profile.inbound, from: second, to: first)
  }
}
