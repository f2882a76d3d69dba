import ArgumentParser
import CaromDNS
import CaromDiscovery

/// Who offers something.
struct BrowseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse", abstract: "Show the services of a TYPE as they come, change and go.")

  @Argument(help: "What they speak, such as _http._tcp.") var type: String
  @Option(help: "Only those that are published under this narrower type, too.")
  var subtype: String?
  @Option(help: "Where to look; name servers are asked for any domain but local.")
  var domain = "local"
  @Flag(help: "Show where each listens, too.") var resolve = false
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var watch: WatchOptions

  func run() async throws {
    let type = try ServiceType(type)
    let output = Output(ServiceRows.headings, json: options.json)
    let place = try CommandFailure.domain(domain)
    let rows = ServiceRows(domain: place.description)
    try servers.apply()
    let browser = ServiceBrowser(
      for: type, subtype: subtype, domain: domain, interfaces: options.interfaces)
    let (resolves, interfaces, servers) = (resolve, options.interfaces, servers)
    let pointers = try? BrowseTarget.services(type, domain: place).name()
    try await Ending.run(for: watch.limit, output: output) {
      async let _: Void = servers.tellSilence(of: RecordKey(pointers ?? place, .ptr))
      var followers: [DiscoveredService.ID: Task<Void, Never>] = [:]
      defer { for follower in followers.values { follower.cancel() } }
      for try await change in browser.changes {
        let service = change.service
        if case .removed = change { followers.removeValue(forKey: service.id)?.cancel() }
        guard let number = rows.tell(change, to: output), resolves else { continue }
        followers[service.id]?.cancel()
        followers[service.id] = Task {
          let follower = PlaceFollower(service, interfaces: interfaces) { place in
            rows.tell(place, of: service, number, to: output)
          }
          await follower.run()
        }
      }
    }
  }
}
