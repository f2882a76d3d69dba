import ArgumentParser
import CaromDNS
import CaromDiscovery

/// Where a service is.
struct ResolveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve", abstract: "Show where the service NAME of a TYPE listens.")

  @Argument(help: "What people see.") var name: String
  @Argument(help: "What it speaks, such as _http._tcp.") var type: String
  @Option(help: "Where it is; name servers are asked for any domain but local.")
  var domain = "local"
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var answer: AnswerOptions

  func run() async throws {
    let type = try ServiceType(type)
    let rows = ServiceRows(domain: try CommandFailure.domain(domain).description)
    try servers.apply()
    let output = Output(ServiceRows.headings, json: options.json)
    let (name, limit) = (name, answer.limit)
    let resolver = ServiceResolver(name, type, domain: domain, interfaces: options.interfaces)
    try await Ending.run(output: output) {
      do throws(DiscoveryError) {
        let place = try await resolver.resolve(within: limit)
        output.tell(rows.report(name, type, at: place))
      } catch .timedOut {
        throw CommandFailure(.timedOut, "no service '\(name)' of \(type) answered in time")
      }
    }
  }
}
