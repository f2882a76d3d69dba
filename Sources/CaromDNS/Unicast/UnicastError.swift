/// The reason why a query or an update sent to name servers failed. Each case calls for a different
/// reaction.
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
  /// The name to register is in use (YXDOMAIN). Register another one.
  case nameInUse
  /// A prerequisite of the update does not hold: the records in the zone are not the expected ones.
  case prerequisiteFailed
  /// The server does not know the key, or the key has another secret. Use the zone's key.
  case keyRejected
  /// This host's clock is ahead of the server's by the given number of seconds, which is more than
  /// 300, or less than -300 if it is behind. Set this host's clock.
  case clocksDiffer(bySeconds: Int64)
  /// The server is not the primary server of the zone. Send updates to the primary server.
  case notAuthoritative
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
    case .nameInUse: "the name is in use: register another one"
    case .prerequisiteFailed: "the zone does not contain the expected records: register again"
    case .keyRejected: "the server rejected the key: use the key of the zone"
    case .clocksDiffer(let seconds):
      "this host's clock and the server's differ by \(seconds.magnitude) s: set the clock"
    case .notAuthoritative: "the server is not the zone's primary server: name that server"
    case .cancelled: "the query was cancelled"
    case .closed: "the network loop has ended: open another one"
    }
  }
}
