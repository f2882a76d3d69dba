import CaromDiscovery
import CaromTransport

/// Which network interfaces a module uses, for programs whose interface does not name them: those
/// that the program has set, or else those that an environment variable names.
package final class InterfaceSetting: Sendable {
  /// The name of the environment variable with the names of interfaces, separated by commas.
  package static let environmentVariable = "CAROM_INTERFACES"

  private let set = Locked<[String]?>(nil)

  /// Creates a setting that the environment variable decides.
  package init() {}

  /// The names of the interfaces that the program has set; nil if it has set none.
  package var names: [String]? {
    get { set.withLock { $0 } }
    set { set.withLock { $0 = newValue } }
  }

  /// The interfaces to use: by default, all that can be used for discovery.
  package var selection: InterfaceSelection {
    let names = names ?? Self.environmentNames
    return names.isEmpty ? .automatic : .named(names)
  }

  private static var environmentNames: [String] {
    PrivateFile.environment(environmentVariable)?.split(separator: ",").map { name in
      String(name.drop { $0 == " " })
    } ?? []
  }
}
