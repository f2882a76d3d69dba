import ArgumentParser
import CaromCore
import CaromCrypto
import CaromDiscovery
import CaromNearby
import CaromTransport

/// The `send` command: sends files to others who run `carom receive`.
struct SendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send",
    abstract: "Send FILES to others who run carom receive.",
    discussion: """
      Without --to, the files go to the only receiver on the network. A transfer whose connection \
      is lost is continued, and so is one that is repeated after this command has ended.
      """)

  @Argument(help: "The files to send.") var files: [String]
  @Option(
    help: """
      The name of a receiver, or its ADDRESS:PORT; may be repeated to send to several at once.
      """)
  var to: [String] = []
  @Option(help: "The code that the receiver shows.") var code: String?
  @Option(help: "Your name, which receivers are shown, at most 63 bytes. Default: the host's name.")
  var name: String?
  @OptionGroup var options: ToolOptions
  @Option(
    name: [.customLong("timeout"), .customLong("for")], parsing: .unconditional,
    help: "How many seconds to look for the receivers.")
  var timeout: Double = 5

  func validate() throws {
    guard timeout > 0, timeout <= 1e6 else {
      throw ValidationError("--timeout must be a positive number of seconds.")
    }
  }

  func run() async throws {
    try files.forEach(Self.check)
    let name = try FileService.displayName(name)
    let security = try code.map { SessionSecurity.code(try FileService.code($0)) } ?? .anyone
    let output = Output(TransferRows.headings, json: options.json)
    let search = try ReceiverSearch(
      for: to, interfaces: options.interfaces, limit: .seconds(timeout))
    let rows = TransferRows(output)
    let files = files
    try await CommandRunner.run(output: output) {
      let receivers = try await search.run()
      try await withThrowingTaskGroup(of: CommandFailure?.self) { group in
        for receiver in receivers {
          let sender = FileSender(
            files, to: receiver, as: FileService.info(name), security: security, rows)
          group.addTask { try await sender.run() }
        }
        var first: CommandFailure?
        for try await failure in group { first = first ?? failure }
        if let first { throw first }
      }
    }
  }

  /// Throws if a file cannot be sent, before anything is sent.
  private static func check(_ path: String) throws(CommandFailure) {
    do throws(FileFailure) {
      _ = try OpenFile(reading: path)
    } catch { throw CommandFailure(.ioFailed, "\(path) cannot be sent: \(error)") }
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    guard FileName(name) != nil else { throw CommandFailure(.invalidName, of: path) }
  }
}
