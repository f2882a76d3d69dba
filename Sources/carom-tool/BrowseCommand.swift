import ArgumentParser
import CaromDNS
import CaromDiscovery

/// The `browse` command: watches for services of a type.
struct BrowseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse",
    abstract: "Show the services of a TYPE as they are added, changed and removed.")

  @Argument(help: "The service type, such as _http._tcp.") var type: String
  @Option(help: "Show only services with this subtype.")
  var subtype: String?
  @Option(help: "The domain; any domain but local is queried at name servers.")
  var domain = "local"
  @Flag(help: "Also show the endpoints that each service listens on.") var resolve = false
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: DurationOptions

  func run() async throws {
    let type = try ServiceType(type)
    let output = Output(ServiceRows.headings, json: options.json)
    let domainName = try CommandFailure.domain(domain)
    let rows = ServiceRows(domain: domainName.description)
    try servers.apply()
    let browser = ServiceBrowser(
      for: type, subtype: subtype, domain: domain, interfaces: options.interfaces)
    let (resolves, interfaces) = (resolve, options.interfaces)
    let pointers = try? BrowseTarget.services(type, domain: domainName).name()
    let check = ServerCheck(RecordKey(pointers ?? domainName, .ptr))
    let end = try await CommandRunner.run(for: duration.limit, output: output) {
      async let _: Void = check.run()
      var trackers: [DiscoveredService.ID: Task<Void, Never>] = [:]
      defer { for tracker in trackers.values { tracker.cancel() } }
      for try await change in browser.changes {
        let service = change.service
        if case .removed = change { trackers.removeValue(forKey: service.id)?.cancel() }
        guard let number = rows.emit(change, to: output), resolves else { continue }
        trackers[service.id]?.cancel()
        trackers[service.id] = Task {
          let tracker = EndpointTracker(service, interfaces: interfaces) { resolved in
            rows.emit(resolved, of: service, number, to: output)
          }
          await tracker.run()
        }
      }
    }
    if end == .timedOut, let failure = check.failure { throw failure }
  }
}
