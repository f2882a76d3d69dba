import ArgumentParser
import CaromDiscovery

/// The options shared by all commands.
struct ToolOptions: ParsableArguments {
  @Option(
    help: "An interface to use, such as eth0 or lo; may be repeated. Default: all usual ones.")
  var interface: [String] = []
  @Flag(help: "Print one JSON object per line.") var json = false

  var interfaces: InterfaceSelection { interface.isEmpty ? .automatic : .named(interface) }
}
