import CaromCore
import CaromPlacement
import CaromSession
import CaromTransport

/// Reports a host to Agones, which runs it: over HTTP to the sidecar on this computer.
///
/// The host is reported as ready when it listens, as healthy twice in each period that Agones asks
/// for, as allocated from its first player on, and as shut down when it ends. The list `players`
/// has the ids of its players, and the counter `rooms` the number of its matches.
///
/// Nothing waits for the sidecar, except `shutdown`, for 3 seconds. Requests that it has not taken
/// are repeated until it does.
public actor AgonesReporter: LoopActor {
  /// What happens to the sidecar.
  public enum Event: Hashable, Sendable {
    /// The sidecar takes no requests, for this reason. Told once, until it is back.
    case away(AgonesError)
    /// The sidecar takes requests again.
    case back
    /// The sidecar does not take a list or a counter, most likely because the manifest does not
    /// have it. `request` is the request, such as "PATCH /v1beta1/lists/players". Told once, until
    /// it takes it.
    case refused(request: String, status: Int)
  }

  /// The list of Agones that has the ids of the players.
  public static let playerList = "players"
  /// The counter of Agones that counts the matches.
  public static let matchCounter = "rooms"
  /// How long the sidecar may take for a response. It is on the same computer.
  static let responseLimit = Duration.seconds(1)

  /// The loop of the connections to the sidecar.
  public nonisolated let loop: NetworkLoop
  /// The sidecar.
  public nonisolated let sidecar: AgonesSidecar
  private let seats: Int
  private let take: @Sendable (Event) -> Void
  private var machine: AgonesGameServer?
  private var generator: LoopGenerator
  private var timer: LoopTimer?
  private var exchange: Task<Void, Never>?
  /// Why the last request was not taken.
  private var failure: AgonesError?
  private var players: [Peer] = []
  private var hasEnded = false
  private var leavers: [CheckedContinuation<Void, Never>] = []

  /// Creates the reporter of a host with this number of seats for players. `take` is called on the
  /// loop with all that happens to the sidecar.
  public init(
    to sidecar: AgonesSidecar, seats: Int, on loop: NetworkLoop,
    _ take: @escaping @Sendable (Event) -> Void
  ) {
    self.loop = loop
    self.sidecar = sidecar
    self.seats = seats
    self.take = take
    generator = LoopGenerator(of: loop)
  }

  /// Reports that the host is ready, and from then on that it is healthy, and who plays over its
  /// session. Spectators are no players.
  public func begin(_ session: Session) async {
    begin()
    await session.observe { [weak self] event in self?.assumeIsolated { $0.observe(event) } }
    // Somebody may have joined before.
    for peer in await session.peers { observe(.joined(peer)) }
  }

  /// Reports that the host is ready, and from then on that it is healthy.
  package func begin() {
    guard machine == nil, !hasEnded else { return }
    machine = AgonesGameServer(at: loop.now)
    timer = LoopTimer(on: loop, owner: self) { reporter in
      reporter.change { $0.handleTimeout(at: $1) }
    }
    reportPlayers()
  }

  /// Reports the number of matches of the host, and how many it can have.
  public func setMatches(_ count: Int, capacity: Int) {
    change { $0.setCounter(Self.matchCounter, count, capacity: capacity, at: $1) }
  }

  /// Reports whether the host is healthy. While it is not, it says nothing about its health, and
  /// Agones starts it again after some periods. A host whose loop stands still says nothing, too.
  public func setHealthy(_ isHealthy: Bool) { change { $0.setHealthy(isHealthy, at: $1) } }

  /// Reports that the host is done, and returns when Agones knows of it, or after 3 seconds if it
  /// does not answer.
  public func shutdown() async {
    guard machine != nil, !hasEnded else { return }
    change { $0.shutdown(at: $1) }
    guard !hasEnded else { return }
    await withCheckedContinuation { leavers.append($0) }
  }

  // MARK: The players

  private func observe(_ event: PeerEvent) {
    switch event {
    case .joined(let peer) where !peer.isSpectator && !players.contains(peer):
      players.append(peer)
      change { $0.allocate(at: $1) }
      reportPlayers()
    case .left(let peer, _):
      players.removeAll { $0 == peer }
      reportPlayers()
    default: break
    }
  }

  private func reportPlayers() {
    // A player who has joined again may be there twice for a moment.
    var ids: [PeerID] = []
    for player in players where !ids.contains(player.id) { ids.append(player.id) }
    change { $0.setList(Self.playerList, ids.map(\.description), capacity: seats, at: $1) }
  }

  // MARK: The sidecar

  /// Calls the machine, and does what it asks for.
  private func change(_ body: (inout AgonesGameServer, Instant) -> Void) {
    guard var machine = machine.take() else { return }
    body(&machine, loop.now)
    self.machine = machine
    flush()
  }

  private func flush() {
    if let request = machine?.pollRequest() { send(request) }
    while let event = machine?.pollEvent() { report(event) }
    guard !hasEnded else { return }
    if let timeout = machine?.nextTimeout { timer?.arm(at: timeout) } else { timer?.cancel() }
  }

  private func send(_ request: AgonesRequest) {
    exchange = Task {
      let result = await HTTPExchange(on: loop).perform(
        request.encoded(to: sidecar.port), to: sidecar.endpoints, within: Self.responseLimit)
      handle(result, of: request)
    }
  }

  private func handle(_ result: HTTPExchange.Result, of request: AgonesRequest) {
    guard !hasEnded else { return }
    let outcome: AgonesGameServer.Outcome
    switch result {
    case .success(let response) where !(200..<300).contains(response.status):
      failure = .status(response.status)
      outcome = .refused(status: response.status)
    case .success(let response) where request == .status:
      outcome = .done(AgonesStatus(json: response.content))
    case .success: outcome = .done()
    case .failure(let failure):
      self.failure = failure.error
      outcome = failure.wasSent ? .unanswered : .unreachable
    }
    change { $0.handle(outcome, at: $1, using: &generator) }
  }

  private func report(_ event: AgonesGameServer.Event) {
    switch event {
    case .away: take(.away(failure ?? .malformed))
    case .back: take(.back)
    case .refused(let request, let status):
      take(.refused(request: request.description, status: status))
    case .finished: end()
    }
  }

  private func end() {
    hasEnded = true
    timer?.cancel()
    exchange?.cancel()
    for leaver in leavers { leaver.resume() }
    leavers = []
  }
}
