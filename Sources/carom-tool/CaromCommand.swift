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

  private static func end(_ failure: CommandFailure) -> Never {
    let line = "carom: \(TextWidth.escaped(failure.line))\n"
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    exit(withError: ExitCode(failure.status.rawValue))
  }
}
