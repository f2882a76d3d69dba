import ArgumentParser
import CaromDNS
import CaromDiscovery

/// The `reconfirm` command: asks whether a service is still there.
struct ReconfirmCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reconfirm",
    abstract: "Ask whether the service NAME of a TYPE is still there.",
    discussion: """
      The question is repeated until the service answers. If it does not, other hosts on the link \
      have seen the questions without an answer, and remove the service from their lists within \
      ten seconds (RFC 6762 §10.5).
      """)

  @Argument(help: "The name of the service.") var name: String
  @Argument(help: "The service type, such as _http._tcp.") var type: String
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions

  func run() async throws {
    let target = try TypeArgument(type)
    guard target.domain == nil || target.domain == "local" else {
      throw CommandFailure(.badName, "services are reconfirmed on the link only, in local")
    }
    let service = try InstanceArgument.fullName(name, target.type, "local")
    let output = Output(["NAME", "TYPE", "INTERFACE", "SOURCE"], json: options.json)
    let (interfaces, type) = (InterfaceNames(), target.type)
    let lookup = Lookup(options, duration.answerLimit)
    do {
      try await CommandRunner.run(output: output) {
        // The PTR record is asked for as well, so that hosts that have cached it notice.
        try await lookup.askLink(
          [RecordKey(service, .srv)], and: [RecordKey(service.parent, .ptr)], isRepeated: true
        ) { reply in
          guard let record = reply.answers.first(where: { $0.type == .srv }) else { return }
          output.emit(Self.report(record, reply, type, interfaces))
        }
      }
    } catch let failure as CommandFailure where failure == .silence {
      throw CommandFailure(
        .timedOut, "the service '\(name)' of type \(type) did not answer: it is gone")
    }
  }

  private static func report(
    _ record: Record, _ reply: LinkQuery.Reply, _ type: ServiceType, _ interfaces: InterfaceNames
  ) -> Report {
    let name = InstanceArgument.text(of: record.name)
    let (interface, source) = (reply.interface.map { interfaces[$0] }, reply.source?.address)
    return Report(
      .confirmed, name,
      cells: [name, type.description, interface ?? "", source.map(interfaces.text) ?? ""],
      [
        .init("name", .string(name)), .init("type", .string(type.description)),
        .init("interface", interface.map(JSONValue.string) ?? .null),
        .init("source", source.map { .string($0.description) } ?? .null),
      ])
  }
}
