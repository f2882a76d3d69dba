import CaromTransport

/// On which interfaces services are published and looked for.
public struct InterfaceSelection: Sendable {
  /// A predicate of somebody's. Functions cannot be compared, so it is equal to itself alone.
  private final class Predicate: Sendable {
    let matches: @Sendable (Interface) -> Bool

    init(_ matches: @escaping @Sendable (Interface) -> Bool) { self.matches = matches }
  }

  private enum Rule: Sendable {
    case usual
    case named([String])
    case matching(Predicate)
  }

  private let rule: Rule

  /// Every interface that is up and `isUsual`.
  public static let automatic = InterfaceSelection(rule: .usual)

  /// These, by the system's names; loopback works too when it is named: "lo".
  public static func named(_ names: [String]) -> InterfaceSelection {
    InterfaceSelection(rule: .named(names))
  }

  /// Those that are up and satisfy the predicate, asked again whenever one changes.
  ///
  /// Two selections made from predicates are equal only where one is a copy of the other: keep
  /// the value and give it to every advertiser and browser that is to share sockets.
  public static func matching(
    _ predicate: @escaping @Sendable (Interface) -> Bool
  ) -> InterfaceSelection {
    InterfaceSelection(rule: .matching(Predicate(predicate)))
  }

  /// Beginnings of names that container and virtual-machine software gives to its interfaces.
  static let containerPrefixes = [
    "br-", "cali", "cni", "docker", "flannel", "lxc", "lxdbr", "podman", "veth", "virbr", "vmnet",
  ]

  /// Whether an interface is one of those that `automatic` takes: capable of multicast, and
  /// neither loopback nor point-to-point nor a bridge of containers.
  public static func isUsual(_ interface: Interface) -> Bool {
    interface.supportsMulticast && !interface.isLoopback && !interface.isPointToPoint
      && !containerPrefixes.contains { interface.name.hasPrefix($0) }
  }

  /// The names that were asked for; empty where interfaces are not chosen by name.
  var names: [String] { if case .named(let names) = rule { names } else { [] } }

  /// The selected ones among `interfaces`.
  public func selected(from interfaces: [Interface]) -> [Interface] {
    interfaces.filter { interface in
      guard interface.isUp, interface.isRunning, !interface.addresses.isEmpty else { return false }
      return switch rule {
      case .usual: Self.isUsual(interface)
      case .named(let names): names.contains(interface.name)
      case .matching(let predicate): predicate.matches(interface)
      }
    }
  }
}

extension InterfaceSelection: Hashable {
  /// Equal where the same interfaces are selected for the same reason.
  public static func == (a: InterfaceSelection, b: InterfaceSelection) -> Bool {
    switch (a.rule, b.rule) {
    case (.usual, .usual): true
    case (.named(let a), .named(let b)): a == b
    case (.matching(let a), .matching(let b)): a === b
    default: false
    }
  }

  /// Hashes the names, or the predicate's identity.
  public func hash(into hasher: inout Hasher) {
    switch rule {
    case .usual: hasher.combine(0)
    case .named(let names): hasher.combine(names)
    case .matching(let predicate): hasher.combine(ObjectIdentifier(predicate))
    }
  }
}
