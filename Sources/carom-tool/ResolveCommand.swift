import ArgumentParser
import CaromDNS
import CaromDiscovery

/// The `resolve` command: resolves one service.
struct ResolveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Show the endpoints that the service NAME of a TYPE listens on.")

  @Argument(help: "The name of the service.") var name: String
  @Argument(help: "The service type, such as _http._tcp.") var type: String
  @Option(help: "The domain; any domain but local is queried at name servers.")
  var domain = "local"
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var answer: TimeoutOptions

  func run() async throws {
    let type = try ServiceType(type)
    let rows = ServiceRows(domain: try CommandFailure.domain(domain).description)
    try servers.apply()
    let output = Output(ServiceRows.headings, json: options.json)
    let (name, limit) = (name, answer.limit)
    let resolver = ServiceResolver(name, type, domain: domain, interfaces: options.interfaces)
    try await CommandRunner.run(output: output) {
      do throws(DiscoveryError) {
        let resolved = try await resolver.resolve(within: limit)
        output.emit(rows.report(name, type, resolved))
      } catch .timedOut {
        throw CommandFailure(
          .timedOut, "the service '\(name)' of type \(type) did not answer in time")
      }
    }
  }
}
