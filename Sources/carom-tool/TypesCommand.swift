import ArgumentParser
import CaromDiscovery

/// What is offered at all.
struct TypesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "types", abstract: "Show which types of service there are.")

  @OptionGroup var options: ToolOptions
  @OptionGroup var watch: WatchOptions

  func run() async throws {
    let output = Output(["TYPE", "INTERFACE"], json: options.json)
    let (interfaces, names) = (options.interfaces, InterfaceNames())
    try await Ending.run(for: watch.limit, output: output) {
      for try await change in ServiceTypeBrowser(interfaces: interfaces).changes {
        let type = change.item
        output.tell(
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
