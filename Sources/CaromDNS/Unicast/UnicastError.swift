/// The reason why a query to name servers failed. Each case calls for a different reaction.
package enum UnicastError: Error, Hashable, Sendable {
  /// The name does not exist. Check its spelling.
  case nameError
  /// No server could answer. Try again later.
  case serverFailure
  /// Every server refused to answer. Use other servers.
  case refused
  /// No server could be reached. Check the network.
  case unreachable
  /// No server answered in time. Try again or give up.
  case timedOut
  /// The name is link-local. Query for it by multicast.
  case multicastName
  /// No server is configured. Specify one.
  case noServers
  /// Too many queries are running. Wait for one to finish.
  case tooManyQueries
  /// The caller cancelled the query.
  case cancelled
  /// The network loop has ended. Open another one.
  case closed
}

extension UnicastError: CustomStringConvertible {
  /// A one-line message for display: what happened and what to do.
  package var description: String {
    switch self {
    case .nameError: "the name does not exist: check its spelling"
    case .serverFailure: "no name server could answer: try again later"
    case .refused: "every name server refused to answer: use another one"
    case .unreachable: "no name server could be reached: check the network"
    case .timedOut: "no name server answered in time: try again"
    case .multicastName: "the name is link-local: query for it by multicast"
    case .noServers: "no name server is configured: name one"
    case .tooManyQueries: "too many queries are running: wait for one to finish"
    case .cancelled: "the query was cancelled"
    case .closed: "the network loop has ended: open another one"
    }
  }
}
