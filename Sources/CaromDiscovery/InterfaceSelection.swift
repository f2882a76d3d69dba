import CaromTransport

/// On which interfaces services are published and looked for.
public enum InterfaceSelection: Hashable, Sendable {
  /// Every interface that is up, capable of multicast, and neither loopback nor point-to-point
  /// nor a bridge of containers.
  case automatic
  /// These, by the system's names; loopback works too when it is named: "lo".
  case named([String])

  /// Beginnings of names that container and virtual-machine software gives to its interfaces.
  static let containerPrefixes = [
    "br-", "cali", "cni", "docker", "flannel", "lxc", "lxdbr", "podman", "veth", "virbr", "vmnet",
  ]

  /// The selected ones among `interfaces`.
  public func selected(from interfaces: [Interface]) -> [Interface] {
    interfaces.filter { interface in
      guard interface.isUp, interface.isRunning, !interface.addresses.isEmpty else { return false }
      switch self {
      case .named(let names): return names.contains(interface.name)
      case .automatic:
        return interface.supportsMulticast && !interface.isLoopback && !interface.isPointToPoint
          && !Self.containerPrefixes.contains { interface.name.hasPrefix($0) }
      }
    }
  }
}
