import CaromCore
import CaromCrypto
import CaromPlacement
import CaromTransport

/// The directory of a fleet, as a matchmaker or an operator uses it.
///
/// It connects when it is first asked something, and connects again by itself when the connection
/// is lost. While the directory is away, every command fails at once with the reason. A command
/// whose answer was lost can be repeated: the second time changes nothing more.
public actor FleetDirectory: LoopActor {
  /// Whether the directory can be reached. Each change is told once.
  public enum Change: Hashable, Sendable {
    /// The directory cannot be reached, for this reason.
    case away(RedisError)
    /// The directory can be reached again.
    case back
  }

  private enum State {
    /// Nobody has asked anything yet.
    case idle
    /// The first attempt to connect is under way.
    case connecting([CheckedContinuation<Void, Never>])
    case connected(RedisConnection)
    case away(RedisError)
    case closed
  }

  /// How many changes wait for a reader; the oldest ones are dropped.
  private static let changeLimit = 16

  /// The loop of the connection.
  public nonisolated let loop: NetworkLoop
  /// Where the directory is.
  public nonisolated let address: FleetAddress
  /// When the directory goes away and comes back, for one reader.
  public nonisolated let changes: AsyncStream<Change>
  private let changed: AsyncStream<Change>.Continuation
  private var state = State.idle
  private var delay = ReconnectDelay()
  private var generator: LoopGenerator
  private var timer: LoopTimer?
  private var attempt: Task<Void, Never>?

  /// Creates the directory without connecting to it.
  public init(_ address: FleetAddress, on loop: NetworkLoop) {
    self.loop = loop
    self.address = address
    generator = LoopGenerator(of: loop)
    (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.changeLimit))
  }

  /// Has the directory carry out a command.
  package func answer(
    _ command: DirectoryCommand
  ) async throws(RedisError) -> DirectoryAnswer {
    if case .idle = state { connect() }
    if case .connecting = state { await firstAttempt() }
    switch state {
    case .connected(let connection):
      return try await withCheckedContinuation { continuation in
        connection.assumeIsolated {
          $0.send(command, fleet: address.fleet) { continuation.resume(returning: $0) }
        }
      }.get()
    case .away(let error): throw error
    case .idle, .connecting, .closed: throw .transport(.closed)
    }
  }

  /// Ends the connection. Commands without an answer fail, and so do all that follow.
  public func close() {
    let before = state
    state = .closed
    timer?.cancel()
    attempt?.cancel()
    switch before {
    case .connecting(let waiters): for waiter in waiters { waiter.resume() }
    case .connected(let connection): connection.assumeIsolated { $0.close() }
    case .idle, .away, .closed: break
    }
    changed.finish()
  }

  private func firstAttempt() async {
    await withCheckedContinuation { continuation in
      guard case .connecting(let waiters) = state else { return continuation.resume() }
      state = .connecting(waiters + [continuation])
    }
  }

  private func connect() {
    if case .idle = state { state = .connecting([]) }
    attempt = Task {
      do throws(RedisError) {
        didConnect(try await RedisConnection.open(address, on: loop))
      } catch {
        didFail(error)
      }
    }
  }

  private func didConnect(_ connection: RedisConnection) {
    let before = state
    if case .closed = before { return connection.assumeIsolated { $0.close() } }
    state = .connected(connection)
    delay.reset()
    connection.assumeIsolated {
      $0.setFailureHandler { [weak self] error in self?.assumeIsolated { $0.didFail(error) } }
    }
    if case .connecting(let waiters) = before { for waiter in waiters { waiter.resume() } }
    if case .away = before, case .connected = state { changed.yield(.back) }
  }

  /// Notes that the connection has failed, or could not be opened, and prepares the next attempt.
  private func didFail(_ error: RedisError) {
    let before = state
    if case .closed = before { return }
    state = .away(error)
    if case .connecting(let waiters) = before { for waiter in waiters { waiter.resume() } }
    if case .away = before {} else { changed.yield(.away(error)) }
    if timer == nil { timer = LoopTimer(on: loop, owner: self) { $0.connect() } }
    timer?.arm(after: delay.next(using: &generator))
  }
}

extension FleetDirectory {
  /// Finds a host for a match. The result is a refusal at once if there is none.
  public func place(
    _ request: PlacementRequest
  ) async throws(RedisError) -> Result<Placement, PlacementRefusal> {
    switch try await answer(.place(request)) {
    case .placed(let placement): return .success(placement)
    case .refused(let refusal): return .failure(refusal)
    default: throw Self.unexpected
    }
  }

  /// Finds a host for players of a match, as a matchmaker does, and returns the tokens with which
  /// they join it within 10 seconds, in their order. `regions` has the regions in which the host
  /// may be, the preferred one first; if there is none, it may be in any.
  public func place(
    _ match: MatchID, for players: [PeerID], of game: GameVersion, near regions: [String] = [],
    key: BackendKey
  ) async throws(RedisError) -> Result<[ConnectToken], PlacementRefusal> {
    var request = PlacementRequest(match, players: players, game: game, near: regions)
    request.key = key.fingerprint
    switch try await place(request) {
    case .failure(let refusal): return .failure(refusal)
    case .success(let placement):
      let now = UnixTime(milliseconds: WallClock.milliseconds)
      do throws(ConnectTokenError) {
        var tokens: [ConnectToken] = []
        for player in players {
          tokens.append(try placement.token(for: player, key: key, at: now, using: &generator))
        }
        return .success(tokens)
      } catch {
        // The host has registered an endpoint to which nobody can connect.
        throw .malformed(.invalid(what: "endpoint of a host"))
      }
    }
  }

  /// Returns the hosts of the fleet, and how many matches there are.
  public func status() async throws(RedisError) -> FleetStatus {
    guard case .status(let status) = try await answer(.status) else { throw Self.unexpected }
    return status
  }

  /// Returns what has become of a match; nil if the fleet does not know it. A match that is over
  /// can be found for 60 seconds.
  public func status(of match: MatchID) async throws(RedisError) -> MatchStatus? {
    switch try await answer(.match(match)) {
    case .placed(let placement): return .hosted(placement)
    case .orphaned: return .orphaned
    case .over(let result): return .over(result: result)
    case .refused(.unknownMatch): return nil
    default: throw Self.unexpected
    }
  }

  /// Returns the result of a match that is over, as its host has given it to `FleetMatches.finish`;
  /// nil if it is not over, or has been for more than 60 seconds.
  public func result(of match: MatchID) async throws(RedisError) -> [UInt8]? {
    if case .over(let result) = try await status(of: match) { result } else { nil }
  }

  /// Lets a host get no more matches, and has it move those that it has. It ends after `patience`,
  /// at most a day, even if it still has matches then for which no other host has room; if it is
  /// nil, it goes on with them. Returns false if no host of the fleet has the id.
  public func drain(
    _ host: PeerID, patience: Duration? = nil
  ) async throws(RedisError) -> Bool {
    let patience = patience.map { min(max($0, .zero), PlacementRules.patienceLimit) }
    switch try await answer(.drain(host, patience: patience)) {
    case .done: return true
    case .unknownHost: return false
    default: throw Self.unexpected
    }
  }

  private static var unexpected: RedisError {
    .malformed(.invalid(what: "answer of a directory"))
  }
}
