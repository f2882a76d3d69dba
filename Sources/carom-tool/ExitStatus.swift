/// How the program ends; the numbers are those of sysexits.h where it has one.
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

  /// What it means, for the help text.
  var meaning: String {
    switch self {
    case .success: "done, or ended as asked (also by an interrupt)"
    case .usage: "the command line makes no sense"
    case .badName: "a name or a type that cannot be"
    case .noSuchInterface: "no interface of that name is up"
    case .unreachable: "no name server can be reached, or none is willing to answer"
    case .unavailable: "the name is taken, or there is no such name"
    case .internal: "a fault of this program"
    case .noMulticast: "no interface can do multicast"
    case .portTaken: "another program keeps UDP port 5353 for itself"
    case .outputFailed: "the output cannot be written"
    case .timedOut: "no answer in time"
    case .notPermitted: "the system does not permit it"
    }
  }

  /// Every status on a line of its own.
  static var help: String {
    "EXIT STATUS:\n"
      + allCases.map { "  \($0.rawValue)\t\($0.meaning)" }.joined(separator: "\n")
  }
}
