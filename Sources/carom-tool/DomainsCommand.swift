import ArgumentParser
import CaromDNS
import CaromDiscovery

/// Where one can browse and register.
struct DomainsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "domains",
    abstract: "Show which domains are recommended for browsing and for registering services.",
    discussion: """
      Hosts of the link are asked, and name servers: in the search domains of this host, and by \
      its subnets. The link itself, "local", is always there and not listed.
      """)

  @Option(help: "Ask in this domain instead of the host's own; may be repeated.")
  var search: [String] = []
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var watch: WatchOptions

  func run() async throws {
    try servers.apply(domains: try search.map(CommandFailure.domain))
    let output = Output(["DOMAIN", "PURPOSE", "INTERFACE"], json: options.json)
    let (interfaces, names) = (options.interfaces, InterfaceNames())
    try await Ending.run(for: watch.limit, output: output) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for purpose in DomainPurpose.allCases {
          group.addTask {
            for try await change in DomainBrowser(purpose, interfaces: interfaces).changes {
              output.tell(Self.report(change, purpose, names[change.item.interfaces]))
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  private static func report(
    _ change: DiscoveryChange<DiscoveredDomain>, _ purpose: DomainPurpose,
    _ interfaces: [String]
  ) -> Report {
    let domain = change.item.name
    return Report(
      .init(change), "\(purpose) \(change.item.id)",
      cells: [domain, "\(purpose)", interfaces.joined(separator: " ")],
      [
        .init("domain", .string(domain)), .init("purpose", .string("\(purpose)")),
        .init("interfaces", .strings(interfaces)),
      ])
  }
}
