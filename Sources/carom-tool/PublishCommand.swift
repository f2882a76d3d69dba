import ArgumentParser
import CaromDNS
import CaromDiscovery
import Dispatch

/// The `publish` command: advertises a service.
struct PublishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Advertise a service until the command ends, then send its goodbye.",
    discussion: """
      Without --interface, the service is advertised on all usual interfaces; the output names \
      them. With --key, it is registered in a domain instead, by updates of the domain's zone, and \
      removed when the command ends.
      """)

  @Argument(help: "The name of the service, at most 63 bytes; if empty, the host's name.")
  var name: String
  @Argument(help: "The service type, such as _http._tcp.") var type: String
  @Argument(help: "The port that the service listens on.", transform: PortArgument.published)
  var port: UInt16
  @Argument(
    help: ArgumentHelp(
      "The TXT record: KEY=VALUE or KEY, any number of times.", valueName: "key=value"))
  var pairs: [String] = []
  @Option(
    help: "A subtype under which the service can be found; may be repeated.")
  var subtype: [String] = []
  @Flag(name: .customLong("no-rename"), help: "Fail if the name is taken, instead of renaming.")
  var noRename = false
  @Flag(help: "Skip probing, because the name is known to be unique, such as one with a UUID.")
  var unique = false
  @Flag(
    help: """
      Change the TXT record by lines from standard input: KEY=VALUE or KEY sets a key, -KEY \
      removes it.
      """)
  var txt = false
  @Option(
    help: """
      The seconds after which the registration in a domain counts as expired if it is not renewed, \
      10 to 86400; it is renewed at half of that.
      """)
  var lease = 600
  @OptionGroup var registration: RegistrationOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions

  func validate() throws {
    guard RegistrationDomain.leases.contains(.seconds(lease)) else {
      throw ValidationError("--lease must be 10 to 86400 seconds.")
    }
  }

  func run() async throws {
    let target = try TypeArgument(type)
    let domain = try registration.registrationDomain(target.domain, lease: .seconds(lease))
    let rows = PublishedRows(try service(target, in: domain), on: try options.current().map(\.name))
    let output = Output(PublishedRows.headings, json: options.json)
    let (interfaces, readsInput) = (options.interfaces, txt)
    try await CommandRunner.run(for: duration.limit, output: output) {
      let advertiser =
        if let domain {
          ServiceAdvertiser(rows.service, in: domain, interfaces: interfaces)
        } else {
          ServiceAdvertiser(rows.service, interfaces: interfaces)
        }
      try await advertiser.run { advertisement in
        output.emit(rows.report(.published, as: advertisement.name))
        try await withThrowingTaskGroup(of: Void.self) { group in
          defer { group.cancelAll() }
          if readsInput { group.addTask { await Self.update(advertisement, rows, output) } }
          for try await name in advertisement.renames {
            output.emit(rows.report(.renamed, as: name))
          }
        }
      }
      output.emit(rows.report(.withdrawn))
    }
  }

  private func service(
    _ target: TypeArgument, in domain: RegistrationDomain?
  ) throws -> AdvertisedService {
    let name = try TypeArgument.domain([registration.domain], target.domain)
    guard domain != nil || name == "local" else {
      throw CommandFailure(
        .badName, "without --key, services are published on the link only, in the domain local")
    }
    var record = TXTRecord()
    for text in pairs {
      let pair = TXTPair(text)
      guard record.value(for: pair.key) == nil else {
        throw CommandFailure(.usage, "TXT key '\(pair.key)' is given twice")
      }
      try pair.apply(to: &record)
    }
    return AdvertisedService(
      name: self.name, type: target.type, port: port, txt: record,
      subtypes: subtype + [target.subtype].compactMap { $0 }, renamesOnConflict: !noRename,
      isNameUnique: unique)
  }

  /// Reads changes to the TXT record from standard input and publishes them. Changes that arrive
  /// while an update is in progress are published together in the next update.
  private static func update(
    _ advertisement: Advertisement, _ rows: PublishedRows, _ output: Output
  ) async {
    let (changes, source) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    DispatchQueue(label: "input").async {
      while let line = readLine() {
        do {
          try rows.change(line)
          source.yield()
        } catch {
          CaromCommand.printError("'\(line)' is not applied: \(CommandFailure(any: error).line)")
        }
      }
      source.finish()
    }
    for await _ in changes {
      do throws(DiscoveryError) {
        try await advertisement.update(txt: rows.record)
        output.emit(rows.report(.updated))
      } catch {
        CaromCommand.printError("the TXT record is not updated: \(error)")
      }
    }
  }
}
