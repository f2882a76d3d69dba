import ArgumentParser
import Foundation
import TerminalText

@main
struct CaromCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "carom", abstract: "Publishes and finds services on the network (DNS-SD, mDNS).",
    discussion: ExitStatus.help,
    subcommands: [
      BrowseCommand.self, PublishCommand.self, ResolveCommand.self, QueryCommand.self,
      TypesCommand.self, DomainsCommand.self,
    ])

  /// Runs what the command line says. Whatever goes wrong is told in one line.
  static func main() async {
    Ending.prepare()
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
      let line = message(for: error).split(separator: "\n").first ?? "unclear command line"
      end(CommandFailure(.usage, "\(line) (see carom --help)"))
    } catch {
      end(CommandFailure(any: error))
    }
  }

  /// Bytes that are no UTF-8 would arrive as another name than the one that was meant; the runtime
  /// puts U+FFFD in their place.
  private static func checkArguments(_ arguments: [String]) throws(CommandFailure) {
    let number = arguments.firstIndex { $0.unicodeScalars.contains("\u{FFFD}") }
    guard let number, number > 0 else { return }
    throw CommandFailure(.usage, "argument \(number) is not UTF-8")
  }

  /// Says a line beside the output.
  static func tell(_ line: String) {
    let line = "carom: \(TextWidth.escaped(line))\n"
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
  }

  private static func end(_ failure: CommandFailure) -> Never {
    tell(failure.line)
    exit(withError: ExitCode(failure.status.rawValue))
  }
}
