/// Why a question to name servers has no answer; each case is another thing to do.
package enum UnicastError: Error, Hashable, Sendable {
  /// There is no such name: check its spelling.
  case nameError
  /// No server could answer: try again later.
  case serverFailure
  /// No server is willing to answer: ask others.
  case refused
  /// No server can be reached: check the network.
  case unreachable
  /// No server answered in time: try again or give up.
  case timedOut
  /// The name belongs to the link: ask by multicast.
  case multicastName
  /// There is no server to ask: name one.
  case noServers
  /// Too many questions are open: wait for one of them.
  case tooManyQueries
  /// Whoever waited has gone.
  case cancelled
  /// The loop has ended: open another one.
  case closed
}

extension UnicastError: CustomStringConvertible {
  /// One line for people: what happened, and what to do.
  package var description: String {
    switch self {
    case .nameError: "there is no such name: check its spelling"
    case .serverFailure: "no name server could answer: try again later"
    case .refused: "no name server is willing to answer: ask another one"
    case .unreachable: "no name server can be reached: check the network"
    case .timedOut: "no name server answered in time: try again"
    case .multicastName: "the name belongs to the link: name servers do not know it"
    case .noServers: "no name server is known: name one"
    case .tooManyQueries: "too many questions are open: wait for an answer"
    case .cancelled: "cancelled"
    case .closed: "the loop has ended: open another one"
    }
  }
}
