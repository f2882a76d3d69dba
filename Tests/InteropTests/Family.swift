/// What a lab's hosts speak.
enum Family: String, CaseIterable, Sendable {
  case v4, v6, both

  /// The lab's environment.
  var environment: [String: String] {
    switch self {
    case .v4: ["LAN_NET6": "off"]
    case .v6: ["LAN_NET4": "off"]
    case .both: [:]
    }
  }
}
