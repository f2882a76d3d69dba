import ArgumentParser
import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport

/// The `query` command: queries the records of a name.
struct QueryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Query the records of a NAME.",
    discussion: """
      Names on the link (*.local) are queried by multicast. All other names are queried at name \
      servers. For types with several records per name (PTR, ANY), responses are collected until \
      --timeout. A name without a domain is tried in local; a trailing dot prevents that.
      """)

  @Argument(help: "A name such as maya.local; '\\' escapes a dot within a label.") var name: String
  @Argument(
    help: """
      A record type, such as A, PTR, SRV, TXT or ANY, or its number. Default: A and AAAA; PTR for \
      a service type and a reverse name.
      """)
  var type: String?
  @Flag(help: "Watch the records as they are added and removed.")
  var continuous = false
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions

  func run() async throws {
    let types = try type.map { [try Self.recordType($0)] }
    let name = try NameArgument.name(name)
    let keys = (types ?? NameArgument.usualTypes(of: name)).map { RecordKey(name, $0) }
    try servers.apply()
    let output = Output(RecordRows.headings, json: options.json)
    if continuous {
      try await watchRecords(keys, output)
    } else {
      let (lookup, rows) = (Lookup(options, duration.answerLimit), RecordRows())
      let report = { @Sendable (reply: Lookup.Reply) in
        for report in rows.reports(reply) { output.emit(report) }
      }
      try await CommandRunner.run(output: output) {
        guard name.isLinkLocal else { return try await lookup.askServers(keys, report) }
        let collectsAll = keys.contains(where: LinkQuery.isShared)
        try await lookup.askLink(keys, collectsAll: collectsAll, report)
      }
    }
  }

  private static func recordType(_ text: String) throws(CommandFailure) -> RecordType {
    guard let type = RecordText.type(text) else {
      throw CommandFailure(.badName, "'\(text)' is not a record type: try A, PTR, SRV, TXT or ANY")
    }
    return type
  }

  private func watchRecords(_ keys: [RecordKey], _ output: Output) async throws {
    let (rows, check) = (RecordRows(), ServerCheck(keys[0]))
    let queries = keys.map {
      RecordQuery($0.name.description, $0.type, interfaces: options.interfaces)
    }
    let end = try await CommandRunner.run(for: duration.limit, output: output) {
      async let _: Void = check.run()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for query in queries {
          group.addTask {
            for try await change in query.changes {
              let found = change.item
              output.emit(
                rows.report(
                  .init(change), found.record, isAnswer: true,
                  on: found.interface == 0 ? nil : found.interface))
            }
          }
        }
        try await group.waitForAll()
      }
    }
    if end == .timedOut, let failure = check.failure { throw failure }
  }
}
