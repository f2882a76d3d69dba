import ArgumentParser

/// The exit statuses of the program. The values follow sysexits.h where it defines a suitable one.
enum ExitStatus: Int32, CaseIterable {
  case success = 0
  case usage = 64
  case badName = 65
  case notATerminal = 66
  case hostUnreachable = 68
  case unavailable = 69
  case `internal` = 70
  case noMulticast = 71
  case portTaken = 73
  case badFile = 74
  case timedOut = 75
  case wrongVersion = 76
  case notPermitted = 77

  /// The meaning of the status, for the help text.
  var meaning: String {
    switch self {
    case .success: "the session ended as requested, or because the other player left"
    case .usage: "the command line is invalid"
    case .badName: "a name is empty, longer than 63 bytes, or contains control characters"
    case .notATerminal: "a person cannot play here: not a terminal"
    case .hostUnreachable: "the host cannot be reached"
    case .unavailable: "the table does not exist or is full"
    case .internal: "an internal error of the program"
    case .noMulticast: "the interface does not exist, or no interface supports multicast"
    case .portTaken: "the port is in use"
    case .badFile: "a file cannot be read or written, or is not a replay of this game"
    case .timedOut: "the peer did not answer in time"
    case .wrongVersion: "the peer uses another protocol, or another version of it"
    case .notPermitted: "the operating system denied permission"
    }
  }

  /// The help text: one line for each status.
  static var help: String {
    "EXIT STATUS:\n"
      + allCases.map { "  \($0.rawValue)\t\($0.meaning)" }.joined(separator: "\n")
  }
}

/// An error that ends the program with an exit status and prints a line to standard error.
struct CommandFailure: Error, Equatable {
  typealias Status = ExitStatus

  let status: Status
  let line: String

  init(_ status: Status, _ line: String) {
    self.status = status
    self.line = line
  }
}
