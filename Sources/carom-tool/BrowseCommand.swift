import ArgumentParser
import CaromDNS
import CaromDiscovery

/// The `browse` command: watches for services of a type, or of all types.
struct BrowseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse",
    abstract:
      "Show the services of a TYPE, or of all types, as they are added, changed and removed.",
    discussion: """
      In a domain other than local, the services are those that name servers list. If no name \
      server answers, a warning is printed after 3 seconds, and the command shows nothing until \
      one does.
      """)

  @Argument(
    help: """
      The service type, such as _http._tcp. It may name a subtype and the domain as well: \
      _http._tcp.local, _printer._sub._http._tcp, or _http._tcp,_printer.
      """)
  var type: String?
  @OptionGroup var place: DomainOptions
  @Flag(help: "Show the services of all types.") var all = false
  @Option(help: "Show only services with this subtype.")
  var subtype: String?
  @Flag(help: "Also show the endpoints and the host that each service listens on.")
  var resolve = false
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions

  func validate() throws {
    guard all || type != nil else {
      throw ValidationError("A service type is missing: give one such as _http._tcp, or --all.")
    }
    if all, let type, type.hasPrefix("_") {
      throw ValidationError("--all shows the services of all types: omit \(type), or --all.")
    }
    if all, subtype != nil { throw ValidationError("--subtype requires a service type.") }
  }

  func run() async throws {
    // With --all, the first argument can only be the domain.
    let target = try all ? nil : type.map(TypeArgument.init)
    let given = [all ? type : nil, place.domainArgument, place.domain]
    let domain = try TypeArgument.domain(given, target?.domain)
    let rows = ServiceRows(
      domain: domain, (resolve ? [.endpoints] : ServiceRows.Columns()).union(all ? [.type] : []))
    let output = Output(rows.headings, json: options.json)
    try servers.apply()
    let watch = ServiceWatch(
      domain: domain, interfaces: options.interfaces, resolves: resolve, rows: rows, output: output)
    let check = ServerCheck(RecordKey(try watch.question(target?.type), .ptr))
    let subtype = subtype ?? target?.subtype
    let end = try await CommandRunner.run(for: duration.limit, output: output) {
      async let _: Void = check.run()
      if let target {
        try await watch.run(target.type, subtype: subtype)
      } else {
        try await watch.runAll()
      }
    }
    if end == .timedOut, let failure = check.failure { throw failure }
  }
}
