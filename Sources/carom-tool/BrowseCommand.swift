import ArgumentParser
import CaromDNS
import CaromDiscovery

/// Who offers something.
struct BrowseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse", abstract: "Show the services of a TYPE as they come, change and go.")

  @Argument(help: "What they speak, such as _http._tcp.") var type: String
  @Flag(help: "Show where each listens, too.") var resolve = false
  @OptionGroup var options: ToolOptions
  @OptionGroup var watch: WatchOptions

  func run() async throws {
    let type = try ServiceType(type)
    let output = Output(ServiceRows.headings, json: options.json)
    let rows = ServiceRows()
    let (interfaces, resolves) = (options.interfaces, resolve)
    try await Ending.run(for: watch.limit, output: output) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for try await change in ServiceBrowser(for: type, interfaces: interfaces).changes {
          output.tell(rows.report(change))
          guard resolves, case .added(let service) = change else { continue }
          group.addTask {
            let place = try? await service.resolve()
            output.tell(rows.report(service, at: place))
          }
        }
        group.cancelAll()
      }
    }
  }
}
