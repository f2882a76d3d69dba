import ArgumentParser
import CaromDiscovery

/// The `types` command: watches for service types.
struct TypesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "types", abstract: "Show the service types that are offered on the link.")

  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions

  func run() async throws {
    let output = Output(["TYPE", "INTERFACE"], json: options.json)
    let (interfaces, names) = (options.interfaces, InterfaceNames())
    try await CommandRunner.run(for: duration.limit, output: output) {
      for try await change in ServiceTypeBrowser(interfaces: interfaces).changes {
        let type = change.item
        output.emit(
          Report(
            .init(change), type.name,
            cells: [type.name, names[type.interfaces].joined(separator: " ")],
            [
              .init("type", .string(type.name)), .init("domain", .string("local")),
              .init("interfaces", .strings(names[type.interfaces])),
            ]))
      }
    }
  }
}
