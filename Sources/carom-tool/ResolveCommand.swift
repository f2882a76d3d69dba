import ArgumentParser
import CaromDNS
import CaromDiscovery

/// Where a service is.
struct ResolveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve", abstract: "Show where the service NAME of a TYPE listens.")

  @Argument(help: "What people see.") var name: String
  @Argument(help: "What it speaks, such as _http._tcp.") var type: String
  @OptionGroup var options: ToolOptions
  @OptionGroup var answer: AnswerOptions

  func run() async throws {
    let type = try ServiceType(type)
    guard !name.isEmpty else { throw CommandFailure(.nameMissing) }
    try Service(name: name, type: type, port: 1).validate()
    let output = Output(ServiceRows.headings, json: options.json)
    let rows = ServiceRows()
    let (wanted, interfaces, limit) = (name, options.interfaces, answer.limit)
    let end = try await Ending.run(for: limit, output: output) {
      for try await change in ServiceBrowser(for: type, interfaces: interfaces).changes {
        guard case .added(let service) = change, service.name == wanted else { continue }
        let place = try await service.resolve(within: limit)
        return output.tell(rows.report(service, at: place))
      }
    }
    if end == .expired {
      throw CommandFailure(.timedOut, "no service '\(name)' of \(type) answered in time")
    }
  }
}
