/// The exit status of the program. The values follow sysexits.h where it defines a suitable one.
enum ExitStatus: Int32, CaseIterable {
  case success = 0
  case usage = 64
  case badName = 65
  case noSuchInterface = 66
  case unreachable = 68
  case unavailable = 69
  case `internal` = 70
  case noMulticast = 71
  case portTaken = 73
  case outputFailed = 74
  case timedOut = 75
  case notPermitted = 77

  /// The description of the status in the help text.
  var meaning: String {
    switch self {
    case .success: "success, including an end by an interrupt"
    case .usage: "invalid command line"
    case .badName: "invalid name or type"
    case .noSuchInterface: "no interface with that name is up"
    case .unreachable: "no name server is reachable or willing to answer"
    case .unavailable: "the name is taken, or does not exist"
    case .internal: "internal error"
    case .noMulticast: "no interface supports multicast"
    case .portTaken: "another program has exclusive use of UDP port 5353"
    case .outputFailed: "the output cannot be written"
    case .timedOut: "no answer arrived in time"
    case .notPermitted: "not permitted by the system"
    }
  }

  /// The help text that lists every status on a separate line.
  static var help: String {
    "EXIT STATUS:\n"
      + allCases.map { "  \($0.rawValue)\t\($0.meaning)" }.joined(separator: "\n")
  }
}
