/// The address families that the hosts of a lab use.
enum Family: String, CaseIterable, Sendable {
  case v4, v6, both

  /// The environment variables for the lab's script.
  var environment: [String: String] {
    switch self {
    case .v4: ["LAN_NET6": "off"]
    case .v6: ["LAN_NET4": "off"]
    case .both: [:]
    }
  }
}
