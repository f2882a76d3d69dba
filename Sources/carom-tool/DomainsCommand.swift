import ArgumentParser
import CaromDNS
import CaromDiscovery

/// The `domains` command: watches for the domains that are recommended for browsing and for
/// registering services.
struct DomainsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "domains",
    abstract: "Show which domains are recommended for browsing and for registering services.",
    discussion: """
      Queries the hosts on the link. Also queries name servers, in the search domains of this \
      host and under its subnets. The domain "local" is always available and not listed.
      """)

  @Option(
    help: "Query in this domain instead of the host's search domains; may be repeated.")
  var search: [String] = []
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions

  func run() async throws {
    try servers.apply(domains: try search.map(CommandFailure.domain))
    let output = Output(["DOMAIN", "PURPOSE", "INTERFACE"], json: options.json)
    let (interfaces, names) = (options.interfaces, InterfaceNames())
    try await CommandRunner.run(for: duration.limit, output: output) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for purpose in DomainPurpose.allCases {
          group.addTask {
            for try await change in DomainBrowser(purpose, interfaces: interfaces).changes {
              output.emit(Self.report(change, purpose, names[change.item.interfaces]))
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
