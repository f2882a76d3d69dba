import ArgumentParser
import CaromDNS
import CaromDiscovery

/// The `resolve` command: resolves one service.
struct ResolveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Show the endpoints that the service NAME of a TYPE listens on.")

  @Argument(help: "The name of the service.") var name: String
  @Argument(help: "The service type, such as _http._tcp or _http._tcp.local.") var type: String
  @OptionGroup var place: DomainOptions
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions

  func run() async throws {
    let target = try TypeArgument(type)
    let domain = try TypeArgument.domain([place.domainArgument, place.domain], target.domain)
    let rows = ServiceRows(domain: domain, [.endpoints])
    try servers.apply()
    let output = Output(rows.headings, json: options.json)
    let (name, type, limit) = (name, target.type, duration.answerLimit)
    let resolver = ServiceResolver(
      name, type, domain: domain.description, interfaces: options.interfaces)
    try await CommandRunner.run(output: output) {
      do {
        output.emit(rows.report(try await resolver.resolve(within: limit), type))
      } catch DiscoveryError.timedOut {
        throw CommandFailure(
          .timedOut, "the service '\(name)' of type \(type) did not answer in time")
      }
    }
  }
}
