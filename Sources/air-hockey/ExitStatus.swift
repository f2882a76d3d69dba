import ArgumentParser

/// How the program ends; the numbers are those of sysexits.h where it has one.
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

  /// What it means, for the help text.
  var meaning: String {
    switch self {
    case .success: "played, and ended as asked, or because the other player left"
    case .usage: "the command line makes no sense"
    case .badName: "a name that is empty, over 63 bytes or holds control characters"
    case .notATerminal: "nobody can play here: not a terminal"
    case .hostUnreachable: "the host cannot be reached"
    case .unavailable: "no such table, or the table is full"
    case .internal: "a fault of this program"
    case .noMulticast: "no such interface, or none that does multicast"
    case .portTaken: "the port is taken"
    case .badFile: "a file cannot be read or written, or is no replay of this game"
    case .timedOut: "no answer in time"
    case .wrongVersion: "the other side speaks another version of the protocol"
    case .notPermitted: "the system does not permit it"
    }
  }

  /// Every status on a line of its own.
  static var help: String {
    "EXIT STATUS:\n"
      + allCases.map { "  \($0.rawValue)\t\($0.meaning)" }.joined(separator: "\n")
  }
}

/// A reason to end with one line and a status.
struct CommandFailure: Error, Equatable {
  typealias Status = ExitStatus

  let status: Status
  let line: String

  init(_ status: Status, _ line: String) {
    self.status = status
    self.line = line
  }
}
