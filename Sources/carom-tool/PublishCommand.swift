import ArgumentParser
import CaromDNS
import CaromDiscovery

/// The `publish` command: advertises a service.
struct PublishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Advertise a service until the command ends, then send its goodbye.")

  @Argument(help: "The name of the service, at most 63 bytes; if empty, the host's name.")
  var name: String
  @Argument(help: "The service type, such as _http._tcp.") var type: String
  @Argument(help: "The port that the service listens on.") var port: UInt16
  @Argument(help: "The TXT record: KEY=VALUE or KEY, any number of times.") var txt: [String] = []
  @Option(help: "A subtype under which the service can be found; may be repeated.")
  var subtype: [String] = []
  @Flag(name: .customLong("no-rename"), help: "Fail if the name is taken, instead of renaming.")
  var noRename = false
  @Flag(help: "Skip probing, because the name is known to be unique, such as one with a UUID.")
  var unique = false
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: DurationOptions

  func run() async throws {
    let service = AdvertisedService(
      name: name, type: try ServiceType(type), port: port, txt: try Self.record(txt),
      subtypes: subtype, renamesOnConflict: !noRename, isNameUnique: unique)
    let output = Output(["NAME", "TYPE", "PORT"], json: options.json)
    let interfaces = options.interfaces
    try await CommandRunner.run(for: duration.limit, output: output) {
      var name = service.name
      try await ServiceAdvertiser(service, interfaces: interfaces).run { advertisement in
        name = advertisement.name
        output.emit(Self.report(.published, service, as: name))
        for try await next in advertisement.renames {
          name = next
          output.emit(Self.report(.renamed, service, as: name))
        }
      }
      output.emit(Self.report(.withdrawn, service, as: name))
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

  /// Parses a TXT record. Throws a failure if a key occurs twice.
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
