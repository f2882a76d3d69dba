import ArgumentParser
import CaromDiscovery

/// The options that every command has.
struct ToolOptions: ParsableArguments {
  @Option(help: "The interface to use, such as eth0 or lo; may be repeated.")
  var interface: [String] = []
  @Flag(help: "Print an object a line, for programs.") var json = false

  var interfaces: InterfaceSelection { interface.isEmpty ? .automatic : .named(interface) }
}
