import ArgumentParser
import CaromCore
import CaromTransport
import TerminalText

@main
struct CaromCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "carom",
    abstract: """
      Publish and find services on the network (DNS-SD, mDNS), connect with peers and send files.
      """,
    discussion: ExitStatus.help, version: "carom \(ProjectVersion.text)",
    subcommands: [
      BrowseCommand.self, PublishCommand.self, ResolveCommand.self, HostCommand.self,
      ReapCommand.self, QueryCommand.self, TypesCommand.self, DomainsCommand.self,
      ReconfirmCommand.self,
      TokenCommand.self, FleetCommand.self, PeersCommand.self, ChatCommand.self, SendCommand.self,
      ReceiveCommand.self,
    ])

  /// Parses and runs the command line. Every error is printed to standard error as one line.
  static func main() async {
    CommandRunner.catchSignals()
    do {
      try checkArguments(CommandLine.arguments)
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch  where exitCode(for: error) == .success {
      exit(withError: error)
    } catch  where exitCode(for: error) == .validationFailure {
      let line = withoutLogin(usageLine(message(for: error)))
      end(CommandFailure(.usage, "\(line) (see \(helpfulCommand) --help)"))
    } catch {
      end(CommandFailure(any: error))
    }
  }

  /// Returns the first line of the parser's message about invalid arguments. The parser takes a
  /// negative number for an option and would only say that an argument is missing, so in that case
  /// this method returns a line about the negative number.
  private static func usageLine(_ message: String) -> Substring {
    let line = message.split(separator: "\n").first ?? "invalid command line"
    let negative = CommandLine.arguments.dropFirst().first { text in
      text.hasPrefix("-") && Double(text) != nil
    }
    guard let negative, line.hasPrefix("Missing") else { return line }
    return "The value '\(negative)' is invalid: numbers must be positive"
  }

  /// Replaces what stands between "://" and "@", which may be a password: errors end up in logs.
  private static func withoutLogin(_ line: Substring) -> String {
    guard let start = line.firstRange(of: "://")?.upperBound,
      let end = line[start...].lastIndex(of: "@")
    else { return String(line) }
    return "\(line[..<start])…\(line[end...])"
  }

  /// The command whose help explains the given arguments: the subcommand among them, or `carom`.
  private static var helpfulCommand: String {
    let given = CommandLine.arguments.dropFirst().first
    let names = configuration.subcommands.compactMap { $0.configuration.commandName }
    return (["carom"] + names.filter { $0 == given }).joined(separator: " ")
  }

  /// Rejects arguments that are not UTF-8. The Swift runtime replaces their invalid bytes with
  /// U+FFFD, so they would denote different names from those intended.
  private static func checkArguments(_ arguments: [String]) throws(CommandFailure) {
    let number = arguments.firstIndex { $0.unicodeScalars.contains("\u{FFFD}") }
    guard let number, number > 0 else { return }
    throw CommandFailure(.usage, "argument \(number) is not UTF-8")
  }

  /// Prints a line to standard error.
  static func printError(_ line: String) { StandardError.write(line) }

  private static func end(_ failure: CommandFailure) -> Never {
    if !failure.line.isEmpty { printError(failure.line) }
    exit(withError: ExitCode(failure.status.rawValue))
  }
}
