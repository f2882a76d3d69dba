import ArgumentParser
import CaromCore
import CaromDNS
import CaromDiscovery

/// The `host` command: looks up the addresses of a host, or the host of an address.
struct HostCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "host",
    abstract: "Show the addresses of a HOST, or the name of the host that has an ADDRESS.",
    discussion: """
      Names on the link (*.local) and link-local addresses are queried by multicast. Other private \
      addresses are queried by multicast and then at name servers, all other names and addresses \
      at name servers. A name without a domain is tried in local; a trailing dot prevents that.
      """)

  /// How long to wait for the hosts on the link to answer before querying name servers. The limit
  /// allows for one lost question, which is repeated after a second.
  private static let linkLimit = Duration.milliseconds(1500)

  @Argument(
    help: ArgumentHelp("A name such as maya.local, or an IP address.", valueName: "host"))
  var name: String
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions

  func run() async throws {
    let plain = name.split(separator: "%", maxSplits: 1).first ?? ""
    let address = IPAddress(plain)
    let name = try address?.reverseName ?? NameArgument.name(name)
    let types: [RecordType] = address == nil ? [.a, .aaaa] : [.ptr]
    let keys = types.map { RecordKey(name, $0) }
    try servers.apply()
    let output = Output(HostRows.headings, json: options.json)
    let rows = HostRows(address)
    let report = { @Sendable (reply: Lookup.Reply) in
      for report in rows.reports(reply) { output.emit(report) }
    }
    let (options, limit) = (options, duration.answerLimit)
    try await CommandRunner.run(output: output) {
      let lookup = Lookup(options, limit)
      if name.isLinkLocal { return try await lookup.askLink(keys, report) }
      if name.isPrivateReverse {
        do {
          return try await Lookup(options, min(Self.linkLimit, limit)).askLink(keys, report)
        } catch  where CommandFailure(any: error).isAbsence {
          guard !UnicastConfiguration.current.servers.isEmpty else { throw error }
        }
      }
      try await lookup.askServers(keys, report)
    }
  }
}

extension CommandFailure {
  /// Whether the failure means that the hosts on the link provided no answer, so that it is worth
  /// querying name servers.
  fileprivate var isAbsence: Bool {
    [.timedOut, .unavailable, .noMulticast, .noSuchInterface].contains(status)
  }
}

/// Converts the addresses and names of hosts to reports.
private struct HostRows: Sendable {
  static let headings = ["HOST", "ADDRESS", "INTERFACE"]

  /// The address whose host is looked up, or nil if the addresses of a host are looked up.
  private let address: IPAddress?
  private let interfaces = InterfaceNames()

  init(_ address: IPAddress?) { self.address = address }

  /// Returns a report for each address or name in the answers of a reply.
  func reports(_ reply: LinkQuery.Reply) -> [Report] {
    reply.answers.compactMap { record in
      switch (record.data, address) {
      case (.address(let found), nil):
        report(record.name, found.scoped(to: reply.interface ?? 0), reply.interface)
      case (.pointer(let name), let address?): report(name, address, reply.interface)
      default: nil
      }
    }
  }

  private func report(_ name: Name, _ address: IPAddress, _ interface: UInt32?) -> Report {
    let interfaceName = interface.map { interfaces[$0] }
    return Report(
      .resolved, "\(name) \(address)", isNew: true,
      cells: [name.description, interfaces.text(of: address), interfaceName ?? ""],
      [
        .init("name", .string(name.description)), .init("address", .string(address.description)),
        .init("interface", interfaceName.map(JSONValue.string) ?? .null),
      ])
  }
}
