import ArgumentParser
import CaromDiscovery

/// The options of all commands.
struct ToolOptions: ParsableArguments {
  @Option(help: "The interface to use, such as eth0 or lo; may be repeated.")
  var interface: [String] = []
  @Flag(help: "Print one JSON object per line.") var json = false

  var interfaces: InterfaceSelection { interface.isEmpty ? .automatic : .named(interface) }
}
