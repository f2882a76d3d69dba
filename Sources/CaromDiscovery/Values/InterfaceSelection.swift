import CaromTransport

/// The interfaces on which services are advertised and browsed.
public struct InterfaceSelection: Sendable {
  /// A predicate given by the caller. Since functions cannot be compared, a predicate equals only
  /// itself.
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

  /// Selects every interface that is up and for which `isUsual` is true.
  public static let automatic = InterfaceSelection(rule: .usual)

  /// Selects interfaces by name, such as "eth0". Loopback ("lo") must be selected by name.
  public static func named(_ names: [String]) -> InterfaceSelection {
    InterfaceSelection(rule: .named(names))
  }

  /// Selects the interfaces that are up and satisfy `predicate`, which is evaluated again whenever
  /// an interface changes.
  ///
  /// Two selections with predicates are equal only if one is a copy of the other. Advertisers and
  /// browsers share sockets only if they are created with copies of the same selection.
  public static func matching(
    _ predicate: @escaping @Sendable (Interface) -> Bool
  ) -> InterfaceSelection {
    InterfaceSelection(rule: .matching(Predicate(predicate)))
  }

  /// The name prefixes of interfaces that container and virtual-machine software creates.
  static let containerPrefixes = [
    "br-", "cali", "cni", "docker", "flannel", "lxc", "lxdbr", "podman", "veth", "virbr", "vmnet",
  ]

  /// Returns whether `automatic` selects an interface: it supports multicast, and is neither a
  /// loopback nor a point-to-point interface nor one created by container or virtual-machine
  /// software.
  public static func isUsual(_ interface: Interface) -> Bool {
    interface.supportsMulticast && !interface.isLoopback && !interface.isPointToPoint
      && !containerPrefixes.contains { interface.name.hasPrefix($0) }
  }

  /// The names passed to `named`; empty for other selections.
  var names: [String] { if case .named(let names) = rule { names } else { [] } }

  /// Returns those of `interfaces` that are selected.
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
  /// Returns whether two selections have the same rule: the same names in the same order, or copies
  /// of the same predicate.
  public static func == (a: InterfaceSelection, b: InterfaceSelection) -> Bool {
    switch (a.rule, b.rule) {
    case (.usual, .usual): true
    case (.named(let a), .named(let b)): a == b
    case (.matching(let a), .matching(let b)): a === b
    default: false
    }
  }

  /// Hashes the names or the identity of the predicate.
  public func hash(into hasher: inout Hasher) {
    switch rule {
    case .usual: hasher.combine(0)
    case .named(let names): hasher.combine(names)
    case .matching(let predicate): hasher.combine(ObjectIdentifier(predicate))
    }
  }
}
