import AirHockeyTerminal
import ArgumentParser
import CaromCore
import Foundation
import TerminalText

@main
struct AirHockeyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "air-hockey", abstract: "Air hockey in the terminal, at 60 Hz.",
    discussion: ExitStatus.help, version: "air-hockey \(ProjectVersion.text)",
    subcommands: [
      PlayCommand.self, AutoCommand.self, HostCommand.self, JoinCommand.self, WatchCommand.self,
      SoloCommand.self, LocalCommand.self, RecordCommand.self, ReplayCommand.self,
      PictureCommand.self,
    ])

  /// Parses and runs the command line. Every error is printed as one line.
  static func main() async {
    do {
      var command = try parsed()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let failure as CommandFailure {
      end(failure)
    } catch  where exitCode(for: error) == .success {
      exit(withError: error)
    } catch  where exitCode(for: error) == .validationFailure {
      let line = usageLine(message(for: error))
      end(CommandFailure(.usage, "\(line) (see \(helpfulCommand) --help)"))
    } catch {
      end(CommandFailure(.internal, "\(error)"))
    }
  }

  /// Parses the command line. Throws a failure with the status `ioFailed` if the preferences cannot
  /// be read or written: of the errors while parsing, only this one is not the parser's own.
  private static func parsed() throws -> any ParsableCommand {
    do {
      return try parseAsRoot()
    } catch  where exitCode(for: error) == .failure {
      throw CommandFailure(.ioFailed, message(for: error))
    }
  }

  /// Returns the first line of the parser's message about invalid arguments, with the values that
  /// an option accepts if the parser lists them in the lines below.
  private static func usageLine(_ message: String) -> String {
    let lines = message.split(separator: "\n")
    guard let line = lines.first else { return "unclear command line" }
    guard line.hasSuffix(":") else { return String(line) }
    let mark = "  - "
    let values = lines.dropFirst().prefix { $0.hasPrefix(mark) }.map { $0.dropFirst(mark.count) }
    return "\(line) \(values.joined(separator: ", "))"
  }

  /// The command whose help explains the arguments: `air-hockey`, followed by the given subcommand
  /// if there is such a subcommand.
  private static var helpfulCommand: String {
    let given = CommandLine.arguments.dropFirst().first
    let names = configuration.subcommands.compactMap { $0.configuration.commandName }
    return (["air-hockey"] + names.filter { $0 == given }).joined(separator: " ")
  }

  private static func end(_ failure: CommandFailure) -> Never {
    if !failure.line.isEmpty {
      let line = "air-hockey: \(TextWidth.plain(failure.line))\n"
      try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
    exit(withError: ExitCode(failure.status.rawValue))
  }
}
