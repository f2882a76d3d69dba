import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport

/// Checks that a name server answers a query that a command repeats as long as it runs. Without
/// this check, the user could not tell missing answers from a query that has no results.
final class ServerCheck: Sendable {
  private enum State {
    case unanswered, answered
    /// A warning has been printed about this error.
    case warned(UnicastError)
  }

  /// How long to wait for an answer before a warning is printed.
  private static let warningDelay = Duration.seconds(3)
  /// How long to wait after an unanswered query before it is repeated.
  private static let interval = Duration.seconds(10)

  private let key: RecordKey
  private let state: Locked<State>

  /// Creates a check of the query for `key`, which succeeds at once if the query needs no name
  /// server.
  init(_ key: RecordKey) {
    self.key = key
    state = Locked(key.name.isLinkLocal ? .answered : .unanswered)
  }

  /// Repeats the query until a server has answered or the task is cancelled, and prints one warning
  /// if no server answers.
  func run() async {
    guard failure != nil, let loop = try? NetworkLoop(name: "carom-servers") else { return }
    let client = UnicastClient(on: loop)
    while await !isAnswered(by: client) {
      do throws(TransportError) {
        try await loop.sleep(until: loop.now + Self.interval)
      } catch { break }
    }
    await loop.shutdown()
  }

  private func isAnswered(by client: UnicastClient) async -> Bool {
    do throws(UnicastError) {
      let servers = UnicastConfiguration.current.servers
      _ = try await client.ask(key.name, key.type, of: servers, within: Self.warningDelay)
    } catch {
      switch error {
      case .timedOut, .unreachable, .refused, .serverFailure:
        warn(of: error)
        return false
      case .tooManyQueries, .cancelled, .closed: return false
      case .nameError, .multicastName, .noServers: break
      // Only updates fail for these reasons.
      case .nameInUse, .prerequisiteFailed, .keyRejected, .clocksDiffer, .notAuthoritative: break
      }
    }
    state.withLock { $0 = .answered }
    return true
  }

  private func warn(of error: UnicastError) {
    state.withLock { state in
      guard case .unanswered = state else { return }
      state = .warned(error)
      CaromCommand.printError("\(error); the query is repeated at growing intervals")
    }
  }

  /// The failure with which the command ends when its time limit is reached, or nil if a server has
  /// answered. The failure's line is empty if a warning has been printed.
  var failure: CommandFailure? {
    state.withLock { state in
      switch state {
      case .answered: nil
      case .unanswered: CommandFailure(UnicastError.timedOut)
      case .warned(let error): CommandFailure(CommandFailure(error).status, "")
      }
    }
  }
}
