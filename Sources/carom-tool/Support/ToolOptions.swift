import ArgumentParser
import CaromDiscovery
import CaromTransport

/// The options shared by all commands.
struct ToolOptions: ParsableArguments {
  @Option(
    help: "An interface to use, such as eth0 or lo; may be repeated. Default: all usual ones.")
  var interface: [String] = []
  @Flag(help: "Print one JSON object per line.") var json = false

  func validate() throws {
    guard !interface.contains("") else { throw ValidationError("--interface needs a name.") }
  }

  var interfaces: InterfaceSelection { interface.isEmpty ? .automatic : .named(interface) }

  /// Returns the selected interfaces in their current state. Throws if a named interface is not up,
  /// or if no interface is selected.
  func current() throws -> [Interface] {
    let all = try Interfaces.list()
    for name in interface where !all.contains(where: { $0.name == name && $0.isUp }) {
      throw DiscoveryError.noSuchInterface(name)
    }
    let selected = interfaces.selected(from: all)
    guard !selected.isEmpty else { throw DiscoveryError.noMulticastInterface }
    return selected
  }
}
