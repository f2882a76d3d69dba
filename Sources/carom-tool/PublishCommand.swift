import ArgumentParser
import CaromDNS
import CaromDiscovery

/// Something to offer.
struct PublishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Make a service visible until the command is ended; its goodbye is said then.")

  @Argument(help: "What people see, at most 63 bytes.") var name: String
  @Argument(help: "What it speaks, such as _http._tcp.") var type: String
  @Argument(help: "Where it listens on this host.") var port: UInt16
  @Argument(help: "Strings beside it: KEY=VALUE, or KEY.") var txt: [String] = []
  @Option(help: "A narrower type to be found under, too; may be repeated.")
  var subtype: [String] = []
  @Flag(name: .customLong("no-rename"), help: "Fail where the name is taken.")
  var noRename = false
  @Flag(help: "Nobody else can have the name, such as one with a UUID: visible at once.")
  var unique = false
  @OptionGroup var options: ToolOptions
  @OptionGroup var watch: WatchOptions

  func run() async throws {
    let service = AdvertisedService(
      name: name, type: try ServiceType(type), port: port, txt: try Self.record(txt),
      subtypes: subtype, renamesOnConflict: !noRename, isNameUnique: unique)
    let output = Output(["NAME", "TYPE", "PORT"], json: options.json)
    let interfaces = options.interfaces
    try await Ending.run(for: watch.limit, output: output) {
      var name = service.name
      try await ServiceAdvertiser(service, interfaces: interfaces).run { advertisement in
        name = advertisement.name
        output.tell(Self.report(.published, service, as: name))
        for try await next in advertisement.renames {
          name = next
          output.tell(Self.report(.renamed, service, as: name))
        }
      }
      output.tell(Self.report(.withdrawn, service, as: name))
    }
  }

  private static func report(
    _ event: Report.Event, _ service: AdvertisedService, as name: String
  ) -> Report {
    Report(
      event, "service", cells: [name, service.type.description, "\(service.port)"],
      [
        .init("name", .string(name)), .init("type", .string(service.type.description)),
        .init("port", .number(Int(service.port))),
      ])
  }

  /// The strings as they were given; a key that comes twice is a mistake.
  private static func record(_ texts: [String]) throws -> TXTRecord {
    var record = TXTRecord()
    for text in texts {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = String(parts[0])
      guard record.value(for: key) == nil else {
        throw CommandFailure(.usage, "TXT key '\(key)' is given twice")
      }
      try record.set(key, to: parts.count == 2 ? .bytes(Array(parts[1].utf8)) : .none)
    }
    return record
  }
}
