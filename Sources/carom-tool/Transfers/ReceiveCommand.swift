import ArgumentParser
import CaromCore
import CaromCrypto
import CaromDiscovery
import CaromNearby
import CaromTransport

/// The `receive` command: receives files that others send with `carom send`.
struct ReceiveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receive",
    abstract: "Receive the files that others send with carom send, until the command ends.",
    discussion: """
      Each file is asked for before anything is stored. A transfer that was interrupted continues \
      when the file is sent again, also if this command was started again in the meantime.
      """)

  /// The number of senders that can be connected at a time.
  private static let seats = 16

  @Option(help: "The folder to store files in.") var into = "."
  @Option(help: "The name to be found by, at most 63 bytes. Default: the host's name.")
  var name: String?
  @Flag(help: "Store every file that is sent, without asking.") var yes = false
  @Flag(help: "Replace files that have the same name. Default: keep both.") var replace = false
  @Flag(help: "Show a code that senders need.") var code = false
  @Option(help: "End after this many files.") var count: Int?
  @Option(help: "The port to listen on; 0 for any.", transform: PortArgument.listening)
  var port: UInt16 = 0
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
  }

  func run() async throws {
    guard yes || Questions.isPossible else {
      throw CommandFailure(.usage, "there is no terminal to ask for each file: use --yes")
    }
    do throws(FileFailure) {
      _ = try OpenFolder(into)
    } catch { throw CommandFailure(.ioFailed, "the folder \(into) cannot be used: \(error)") }
    let name = try FileService.displayName(name)
    let addresses =
      options.interface.isEmpty
      ? [.any4, .any6] : try options.current().flatMap { $0.addresses.map(\.address) }
    var generator = SystemGenerator()
    let code = code ? JoinCode(using: &generator) : nil
    let output = Output(TransferRows.headings, json: options.json)
    let receiver = FileReceiver(
      folder: into, asks: !yes, existing: replace ? .replace : .keepBoth, limit: count, output)
    let (port, interfaces, limit) = (port, options.interfaces, duration.limit)
    try await CommandRunner.run(for: limit, output: output) {
      try await Session.host(
        as: FileService.info(name), port: port, on: addresses, seats: Self.seats,
        security: code.map { .code($0) } ?? .anyone
      ) { session, port in
        let service = AdvertisedService(
          name: name, type: FileService.type, port: port, txt: ["txtvers": "1"])
        try await ServiceAdvertiser(service, interfaces: interfaces).run { advertisement in
          Self.report(advertisement.name, port, code, to: output)
          try await session.withFiles { files in await receiver.run(session, files) }
        }
      }
    }
  }

  /// Reports that senders can find this command now.
  private static func report(
    _ name: String, _ port: UInt16, _ code: JoinCode?, to output: Output
  ) {
    let text = code.map { "ready; the code is \($0.text)" } ?? "ready"
    var fields: [JSONValue.Field] = [
      .init("name", .string(name)), .init("port", .number(Int(port))),
    ]
    if let code { fields.append(.init("code", .string(code.text))) }
    output.emit(Report(.published, "", cells: ["", name, "", text, ""], fields))
  }
}
