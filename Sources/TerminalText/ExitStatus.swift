/// The exit statuses of the project's programs. Each status has the same meaning in all programs.
/// The values follow sysexits.h where it defines a suitable one.
package enum ExitStatus: Int32, CaseIterable, Sendable {
  case success = 0
  case usage = 64
  case badName = 65
  case noSuchInterface = 66
  case unreachable = 68
  case unavailable = 69
  case `internal` = 70
  case noMulticast = 71
  case notATerminal = 72
  case portTaken = 73
  case ioFailed = 74
  case timedOut = 75
  case wrongVersion = 76
  case notPermitted = 77
  case matchesLeft = 79

  /// The meaning of the status, for the help text.
  package var meaning: String {
    switch self {
    case .success: "success, including an end by an interrupt or because the peer left"
    case .usage: "the command line is invalid"
    case .badName: "a name or a type is invalid"
    case .noSuchInterface: "no interface with that name is up"
    case .unreachable:
      "the host, a fleet's directory, or every name server, cannot be reached or refuses to answer"
    case .unavailable:
      "the name is taken or does not exist, the table is full or declined, or no host has room"
    case .internal: "an internal error of the program"
    case .noMulticast: "no interface supports multicast"
    case .notATerminal: "a person cannot play here: not a terminal"
    case .portTaken: "another program uses the port"
    case .ioFailed: "a file or the output cannot be read or written, or is damaged"
    case .timedOut: "no answer arrived in time"
    case .wrongVersion: "the peer uses another protocol, or another version of it"
    case .notPermitted: "the operating system, a name server or Redis denied permission"
    case .matchesLeft: "a host of a fleet has ended with a match that no other host took over"
    }
  }

  /// The help text: one line for each status.
  package static var help: String {
    "EXIT STATUS:\n"
      + allCases.map { "  \($0.rawValue)\t\($0.meaning)" }.joined(separator: "\n")
  }
}
