import CaromCore
import CaromProtocol
import CaromSimulation
import CaromTransport

/// A rollback match between the peers of a session, in which no peer's game is authoritative: a
/// `RollbackSession` over a session.
///
/// The session's host is player 0, and relays the messages between the other players. The match
/// begins with the host's state when all players have joined. A player who disconnects is removed,
/// and the others go on. If it joins the session again, or another peer does, it plays that player
/// from then on. When the host disconnects, the match ends. Peers that joined the session as
/// spectators, and peers for whom no player is free, can watch from any time on: they follow the
/// ticks that the host has confirmed.
///
/// ```swift
/// let match = try await RollbackSession<Race>.join(host, over: session)
/// for await _ in match.ticks { match.advance(with: controls.sample()) }
/// ```
///
/// A frame loop calls `update` once per frame instead, on any thread. A match is not `Sendable`:
/// only one task or thread may use it.
public final class PeerRollback<Game: Simulation & PacketCodable> {
  /// Something that happened to the match, rather than in the game.
  public enum Notice: Hashable, Sendable {
    /// All players have joined, and the match has begun. `player` is the local player, or nil for a
    /// spectator, who may see the match from a later tick.
    case began(player: Int?)
    /// A player has disconnected, and the others go on without it.
    case left(player: Int, DisconnectReason)
    /// A player who had disconnected, or another peer in its place, plays again. Reported on the
    /// host.
    case returned(player: Int)
    /// The game stalled in at least half of the ticks of the last second.
    case stalling
    /// The game no longer stalls.
    case running
    /// Another player computed a different state.
    case desynced(DesyncReport)
    /// The connection to the host has ended, and the match with it.
    case ended(DisconnectReason)
    /// The oldest notices were dropped because they were not polled in time. `notices` is their
    /// number.
    case missed(notices: Int)
  }

  /// This side's role in the match, which determines where its messages go.
  enum Role {
    /// The host, with the initial state. `members` holds the peers of the other players: the peer
    /// of player n is at index n - 1.
    case host(Game)
    case client(Peer)
  }

  /// The maximum number of notices that wait for `pollNotice()`. Beyond it, the oldest are dropped,
  /// and a notice says how many.
  static var noticeLimit: Int { 256 }

  /// The session over which the match is played.
  public let session: Session
  /// The match, or nil for a spectator and before the match has begun.
  public internal(set) var match: RollbackSession<Game>?
  /// A spectator's view of the match, or nil for a player and before the match has begun.
  public internal(set) var spectator: RollbackClient<Game>?
  /// The reason why the match has ended, or nil while it has not.
  public internal(set) var endReason: DisconnectReason?

  let channels: RelayChannels
  let role: Role
  var configuration: RollbackConfiguration
  let watch: PeerWatch
  let meter: RoundTripMeter?
  /// On the host, the peers of the players from player 1 on; nil for players who have left.
  var members: [Peer?] = []
  /// On the host, the peers whose returns to the match are in progress.
  var returning: [ReturningPeer] = []
  /// On the host, the last peer of each player from player 1 on.
  var lastPeers: [PeerID] = []
  /// On a client that returns to a match, where the match is.
  var ownReturn: PlayerReturn?
  /// On the host, the spectators of the match.
  var gallery = RollbackGallery<Game>()
  /// On the host, the spectators who wait for the match to begin.
  var audience: [Peer] = []
  /// On a client, the seat that the host has assigned.
  var seat: RollbackSeat?
  var due = 0
  var writer = PacketWriter(capacity: 512)
  var notices = EventQueue<Notice>(limit: noticeLimit)
  private var wasStalling = false

  /// Creates the host's side of a match of `players` players, which begins with `game` as soon as
  /// the other players have joined the session. `window` is the prediction window and `inputDelay`
  /// the minimum input delay, both in ticks.
  public init(
    hosting game: Game, players: Int, over session: Session,
    channels: RollbackChannels = RollbackChannels(), rate: Int = 60, window: Int = 20,
    inputDelay: Int = 0
  ) {
    precondition(
      Game.playerCounts.contains(players), "the simulation does not support this number of players")
    self.session = session
    self.channels = RelayChannels(channels)
    role = .host(game)
    configuration = RollbackConfiguration(
      players: players, local: 0, rate: rate, window: window, inputDelay: inputDelay)
    self.channels.begin(over: session)
    _ = session.takeMessages(on: self.channels.control)
    watch = PeerWatch(session)
    meter = nil
  }

  /// Creates a client's side of a match, which begins when the host starts it. `window` is the
  /// prediction window and `inputDelay` the minimum input delay, both in ticks. `roundTrip` is the
  /// round-trip time to the host, if it is already known.
  public init(
    _ host: Peer, over session: Session, channels: RollbackChannels = RollbackChannels(),
    window: Int = 20, inputDelay: Int = 0, roundTrip: Duration? = nil
  ) {
    self.session = session
    self.channels = RelayChannels(channels)
    role = .client(host)
    configuration = RollbackConfiguration(local: 0, window: window, inputDelay: inputDelay)
    self.channels.begin(over: session)
    watch = PeerWatch(session, expecting: [host])
    meter = RoundTripMeter(host, first: roundTrip)
    meter?.refresh()
  }

  /// The local player, or nil for a spectator and before the match has begun.
  public var player: Int? { match?.configuration.local }
  /// The game as predicted for the present, or as confirmed for a spectator; nil before the match
  /// has begun.
  public var state: Game? { match?.state ?? spectator?.state }

  /// Removes and returns the next event of the game, or nil if there is none.
  public func pollEvent() -> RollbackEvent<Game.Event>? {
    match?.pollEvent() ?? spectator?.pollEvent()
  }

  /// Removes and returns the next notice about the match, or nil if there is none.
  public func pollNotice() -> Notice? { notices.popFirst { .missed(notices: $0) } }

  // MARK: Ticks

  /// The ticks of the match, each delivered when it is due, until the match ends. Call
  /// `advance(with:)` once for each tick. No tick is due before the match has begun.
  public var ticks: MatchTicks {
    MatchTicks(loop: session.loop) { [self] in
      if due == 0 { receive() }
      if endReason != nil { return .end }
      guard let tick = match?.rollback.tick ?? spectator?.rollback?.tick,
        let next = match?.nextTick ?? spectator?.nextTick
      else { return .wait(until: session.loop.now + .seconds(1) / configuration.rate) }
      return due > 0 ? .simulate(tick) : .wait(until: next)
    }
  }

  /// Whether a tick is due, according to the last call of `receive`.
  public var isTickDue: Bool { due > 0 }

  /// Processes the events and messages that have arrived, simulates the ticks that are due with the
  /// inputs that `input` returns for them, and sends what the other players need. Call this method
  /// once per frame.
  public func update(
    at now: Instant? = nil, _ input: (PeerRollback<Game>) -> Game.Input = { _ in Game.Input() }
  ) {
    receive(at: now)
    while due > 0 { advance(with: input(self)) }
  }

  /// Simulates one tick with the local player's input, which is ignored for a spectator. After the
  /// last tick that is due, sends the inputs. Returns whether the tick was simulated or has
  /// stalled, or nil before the match has begun.
  @discardableResult
  public func advance(with input: Game.Input = Game.Input()) -> Rollback<Game>.Outcome? {
    let outcome = match?.advance(with: input) ?? spectator?.advance()
    if let match { gallery.record(match.rollback) }
    due = max(0, due - 1)
    takeReports()
    if due == 0 { send() }
    return outcome
  }

  /// A peer that takes the place of a player who has left.
  struct ReturningPeer {
    let peer: Peer
    let player: Int
    /// The tick of the return, or nil until the machine could begin it.
    var tick: Tick?
  }

  func takeReports() {
    while let report = match?.pollDesync() ?? spectator?.pollDesync() {
      notices.append(.desynced(report))
    }
    guard let match, match.isStalling != wasStalling else { return }
    wasStalling = match.isStalling
    notices.append(wasStalling ? .stalling : .running)
  }
}

extension RollbackSession where Game: PacketCodable {
  /// Hosts a match of `players` players over a session: waits until the other players have joined
  /// the session, and begins with `game`; see `PeerRollback`. Throws `SessionError.transport` with
  /// `cancelled` if the task is cancelled. If the session ends first, throws the same error or
  /// `SessionError.refused` with `closedLocally`.
  public static func host(
    _ game: Game, players: Int, over session: Session,
    channels: RollbackChannels = RollbackChannels(), rate: Int = 60, window: Int = 20,
    inputDelay: Int = 0
  ) async throws(SessionError) -> PeerRollback<Game> {
    try await PeerRollback(
      hosting: game, players: players, over: session, channels: channels, rate: rate,
      window: window, inputDelay: inputDelay
    ).begun()
  }

  /// Joins the match that a session's host begins when all players have joined; see `PeerRollback`.
  /// Throws `SessionError.refused` if the connection ends first, and `SessionError.transport` with
  /// `cancelled` if the task is cancelled.
  public static func join(
    _ host: Peer, over session: Session, channels: RollbackChannels = RollbackChannels(),
    window: Int = 20, inputDelay: Int = 0
  ) async throws(SessionError) -> PeerRollback<Game> {
    try await PeerRollback<Game>(
      host, over: session, channels: channels, window: window, inputDelay: inputDelay,
      roundTrip: await host.statistics?.roundTrip
    ).begun()
  }
}

extension PeerRollback {
  /// Waits until the match has begun.
  fileprivate func begun() async throws(SessionError) -> PeerRollback<Game> {
    for await _ in ticks { return self }
    throw endReason.map { .refused($0) } ?? .transport(.cancelled)
  }
}
