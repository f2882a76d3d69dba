import CaromCore
import CaromProtocol
import CaromSimulation

/// A rollback match that a session's host serves to the session's peers.
///
/// A peer can join at any time. It gets a free player, or becomes a spectator if no player is free
/// or if it joined the session as a spectator. A peer that comes back gets its player again if that
/// player is still free. While a player has no peer, its input is neutral.
///
/// A peer's first state is the one after the next tick. It includes what the host sets on `server`
/// when it polls the notice that the peer has joined, if it polls notices before each tick: in
/// `prepare`, not after `update`. In a paused match, the first state is the current one.
///
/// ```swift
/// let match = HostedRollback(RollbackServer(Race(), players: 4, at: loop.now), over: session)
/// for await _ in match.ticks {
///   match.advance()
///   for event in match.server.events { print(event) }
/// }
/// ```
///
/// A frame loop calls `update` once per frame instead, on any thread. A match is not `Sendable`:
/// only one task or thread may use it.
public final class HostedRollback<Game: Simulation & PacketCodable> {
  /// Something that happened to a peer of the match.
  public enum Notice: Hashable, Sendable {
    /// The peer now receives the match. It controls `player`, or is a spectator if `player` is nil.
    case joined(Peer, player: Int?)
    /// The peer has disconnected. The input of its player is neutral from now on.
    case left(Peer, player: Int?, DisconnectReason)
    /// No link reaches the peer, whose player keeps its last input. `resumed` or `left` follows.
    case interrupted(Peer, player: Int?)
    /// A link reaches the peer again.
    case resumed(Peer, player: Int?)
    /// At least half of the player's inputs of the last second arrived too late.
    case inputsLate(Peer, player: Int)
    /// The player's inputs arrive in time again.
    case inputsOnTime(Peer, player: Int)
    /// The peer computed a different state for this tick. It recovers with a keyframe.
    case desynced(Peer, Tick)
    /// The oldest notices were dropped because they were not polled in time. `notices` is their
    /// number.
    case missed(notices: Int)
  }

  /// The maximum number of notices that wait for `pollNotice()`. Beyond it, the oldest are dropped,
  /// and a notice says how many.
  static var noticeLimit: Int { 1_024 }

  /// The session over which the match is played.
  public let session: Session
  /// The channels of the match.
  public let channels: RollbackChannels
  /// Whether the session has ended.
  public var isOver: Bool { watch.hasEnded }
  /// Whether the match is paused: no tick is due, and the ticks that would be due meanwhile are
  /// skipped. Peers can join a paused match, and then see its current state.
  ///
  /// Pause a match that waits for players. Players who are in a paused match predict ahead until
  /// their prediction window ends. To stop a game that all of them should see as stopped, let it
  /// have a pause as a part of its state, which an input begins.
  ///
  /// Only a loop that calls `update` or `receive` itself can pause a match: `run` and `ticks` call
  /// nothing while the match is paused, so nothing could end the pause.
  public var isPaused = false {
    didSet {
      if isPaused { due = 0 } else if oldValue { skipDueTicks() }
    }
  }

  private var host: RollbackHost<Game, Peer>
  private let watch: PeerWatch
  private let control: Inbox<Received<RollbackPacket>>
  private let inputs: Inbox<Received<EncodedMessage>>
  private let choosePlayer: ((Peer, _ free: [Int]) -> Int?)?
  var notices = EventQueue<Notice>(limit: noticeLimit)
  private var due = 0
  /// Whether a peer waits for its first state.
  private var hasNewcomers = false
  /// The peers that have been sent the end of the match.
  private var finished: Set<Peer> = []
  private var arrivals: [Peer: Instant] = [:]
  private var writer = PacketWriter(capacity: 512)

  /// Creates a match that serves `server` over a session that this side hosts.
  ///
  /// The peers can control the players in `remotePlayers`, by default all players. `choosePlayer`
  /// receives a peer and those of these players that are free. It returns one of them, or nil to
  /// make the peer a spectator. By default, a returning peer gets its player back, and any other
  /// peer gets the first free player.
  ///
  /// To go on with a match that another host has served, create the server with
  /// `RollbackServer(resuming:at:)`, and pass the checkpoint's `peers` as `lastPeers`: each of them
  /// then gets its player back.
  public convenience init(
    _ server: RollbackServer<Game>, over session: Session,
    channels: RollbackChannels = RollbackChannels(), remotePlayers: [Int]? = nil,
    lastPeers: [PeerID?]? = nil, choosePlayer: ((Peer, _ free: [Int]) -> Int?)? = nil
  ) {
    self.init(
      server, session, channels, remotePlayers, lastPeers, choosePlayer,
      control: session.inboxes.inbox(for: channels.control),
      inputs: session.inboxes.inbox(for: channels.inputs)
    ) { PeerWatch(session) }
  }

  /// Creates a match that serves `server` to the peers of one of several matches. All matches use
  /// the same channels. Everything else is as for a match that has the session to itself.
  public convenience init(
    _ server: RollbackServer<Game>, of matches: ConcurrentMatches, number: Int,
    channels: RollbackChannels = RollbackChannels(), remotePlayers: [Int]? = nil,
    lastPeers: [PeerID?]? = nil, choosePlayer: ((Peer, _ free: [Int]) -> Int?)? = nil
  ) {
    precondition(0..<matches.count ~= number, "there is no such match")
    self.init(
      server, matches.session, channels, remotePlayers, lastPeers, choosePlayer,
      control: matches.inbox(for: channels.control, of: number),
      inputs: matches.inbox(for: channels.inputs, of: number)
    ) { PeerWatch(matches.session, where: { matches.match(of: $0) == number }) }
  }

  /// Creates a match that has its peers from the watch that `makeWatch` makes, and their messages
  /// from the two inboxes.
  private init(
    _ server: RollbackServer<Game>, _ session: Session, _ channels: RollbackChannels,
    _ remotePlayers: [Int]?, _ lastPeers: [PeerID?]?,
    _ choosePlayer: ((Peer, _ free: [Int]) -> Int?)?, control: Inbox<Received<RollbackPacket>>,
    inputs: Inbox<Received<EncodedMessage>>, watch makeWatch: () -> PeerWatch
  ) {
    host = RollbackHost(server, remotePlayers: remotePlayers, lastPeers: lastPeers)
    (self.session, self.channels, self.choosePlayer) = (session, channels, choosePlayer)
    (self.control, self.inputs) = (control, inputs)
    // Peers send nothing before they have a seat, so this is left of an earlier match.
    _ = (control.popAll(), inputs.popAll())
    watch = makeWatch()
  }

  /// The server: the confirmed game, its events and its players. Use it to set the inputs of
  /// players without a peer.
  public var server: RollbackServer<Game> {
    get { host.server }
    _modify { yield &host.server }
  }

  /// The confirmed state with its tick and the peers of the players, from which another host can go
  /// on with the match.
  public var checkpoint: RollbackCheckpoint<Game> { host.checkpoint }

  /// Returns the player that a peer controls, or nil if it is a spectator or not in the match.
  public func player(of peer: Peer) -> Int? { host.player(of: peer) }

  /// Returns the peer that controls a player, or nil if none does.
  public func peer(of player: Int) -> Peer? { host.client(of: player) }

  /// All peers that receive the match.
  public var peers: [Peer] { host.ids }

  /// Returns the time at which the last inputs of a peer arrived, or nil if there were none.
  public func lastInputs(of peer: Peer) -> Instant? { arrivals[peer] }

  /// Removes and returns the next notice about a peer, or nil if there is none.
  public func pollNotice() -> Notice? { notices.popFirst { .missed(notices: $0) } }

  // MARK: Ticks

  /// The ticks of the match, each delivered when it is due. Call `advance()` once for each tick.
  public var ticks: MatchTicks {
    MatchTicks(loop: session.loop) { [self] in
      if due == 0 { receive() }
      if isOver { return .end }
      return due > 0 ? .simulate(server.tick) : .wait(until: server.nextTick)
    }
  }

  /// Plays the match, tick by tick, until the session ends or the task is cancelled. `prepare` is
  /// called before each tick.
  public func run(
    _ prepare: (HostedRollback<Game>) async throws -> Void = { _ in }
  ) async throws {
    defer { finish() }
    for await _ in ticks {
      try await prepare(self)
      advance()
    }
  }

  /// Whether a tick is due, according to the last call of `receive`.
  public var isTickDue: Bool { due > 0 }

  /// Processes the events and messages that have arrived, simulates the ticks that are due, and
  /// sends the results. Call this method once per frame. `prepare` is called before each tick.
  public func update(
    at now: Instant? = nil, _ prepare: (HostedRollback<Game>) -> Void = { _ in }
  ) {
    receive(at: now)
    while due > 0 {
      prepare(self)
      if due > 0 { advance() }
    }
  }

  /// Confirms and simulates one tick. If no further tick is due, sends the results to the peers.
  public func advance() {
    host.advance()
    due = max(0, due - 1)
    takeEvents()
    if due == 0 || hasNewcomers { send() }
  }

  /// Processes the events and messages that have arrived, and counts the ticks that are due.
  public func receive(at now: Instant? = nil) {
    let now = now ?? session.loop.now
    let areWaiting = hasNewcomers
    hasNewcomers = false
    takePeerEvents()
    for received in control.popAll() {
      let packet = received.message
      // Only a host sends inputs on this channel: the last ones of a match.
      guard packet.message != .inputs else {
        received.peer.reject(channels.control.id)
        continue
      }
      receive(
        packet.message, packet.bytes, from: received.peer, on: channels.control.id,
        at: received.arrival)
    }
    for received in inputs.popAll() {
      receive(
        .inputs, received.message.bytes, from: received.peer, on: channels.inputs.id,
        at: received.arrival)
    }
    let ticks = host.server.takeDueTicks(at: now)
    due = isPaused ? 0 : due + ticks
    takeEvents()
    // Newcomers get their first state after the next tick or, since a paused match has none, at the
    // next call, when their notices have been polled.
    let isNew = hasNewcomers
    hasNewcomers = isNew || areWaiting
    guard !hasNewcomers || isPaused && !isNew else { return }
    send()
  }

  /// Sends the last inputs reliably, so that they arrive even if the session ends immediately
  /// afterwards. Call this method after the last tick.
  public func finish() {
    if hasNewcomers { send() }
    for peer in host.ids { finish(for: peer) }
  }

  /// Sends one peer the last inputs reliably, and nothing of the match afterwards. The peer stays
  /// connected and keeps its player; disconnect it to free the player. A peer that waits for a
  /// state gets neither the state nor the inputs. Returns false if the match has already ended for
  /// the peer, or the peer is not in it.
  @discardableResult
  public func finish(for peer: Peer) -> Bool {
    guard host.contains(peer), finished.insert(peer).inserted else { return false }
    writer.removeAll()
    if host.writeInputs(for: peer, into: &writer) {
      _ = peer.post(RollbackPacket(.inputs, writer.bytes), on: channels.control)
    }
    return true
  }

  private func skipDueTicks() { _ = host.server.takeDueTicks(at: session.loop.now) }

  // MARK: Peers

  private func takePeerEvents() {
    while let event = watch.next() { handle(event) }
  }

  private func handle(_ event: PeerEvent) {
    switch event {
    // A player who was found by matchmaking may host this side later, in another match.
    case .joined(let peer): if !peer.isHost { add(peer) }
    case .left(let peer, let reason): remove(peer, reason)
    case .interrupted(let peer) where host.contains(peer):
      notices.append(.interrupted(peer, player: host.player(of: peer)))
    case .resumed(let peer) where host.contains(peer):
      notices.append(.resumed(peer, player: host.player(of: peer)))
    case .missed:
      // Too much happened since the last call: begin again with the peers that are connected now.
      let connected = watch.connected
      for peer in host.ids where !connected.contains(peer.connectionID) {
        remove(peer, .connectionLost)
      }
      watch.begin()
    case .linkChanged, .interrupted, .resumed, .inputStopped, .inputResumed, .malformed, .refused,
      .wrongCode:
      break
    }
  }

  private func add(_ peer: Peer) {
    guard !host.contains(peer) else { return }
    guard host.ids.count < RollbackBroadcaster<Game>.clientLimit else {
      return peer.disconnect(Goodbye(.full), as: .full)
    }
    let player = peer.isSpectator ? nil : choose(for: peer)
    host.add(peer, peer: peer.id, as: player)
    hasNewcomers = true
    notices.append(.joined(peer, player: player))
  }

  private func choose(for peer: Peer) -> Int? {
    guard let choosePlayer else { return host.player(for: peer.id) }
    let free = host.freePlayers
    let player = choosePlayer(peer, free)
    precondition(player.map(free.contains) ?? true, "choosePlayer must return a free player")
    return player
  }

  private func remove(_ peer: Peer, _ reason: DisconnectReason) {
    guard host.contains(peer) else { return }
    let player = host.player(of: peer)
    host.remove(peer)
    finished.remove(peer)
    arrivals[peer] = nil
    notices.append(.left(peer, player: player, reason))
  }

  private func takeEvents() {
    while let event = host.pollEvent() {
      switch event {
      case .inputsLate(let peer, let player): notices.append(.inputsLate(peer, player: player))
      case .inputsOnTime(let peer, let player): notices.append(.inputsOnTime(peer, player: player))
      case .desynced(let peer, let tick): notices.append(.desynced(peer, tick))
      case .missed(let events): notices.append(.missed(notices: events))
      }
    }
  }

  // MARK: Messages

  private func receive(
    _ message: RollbackMessage, _ bytes: [UInt8], from peer: Peer, on channel: UInt8,
    at now: Instant
  ) {
    // A peer may have joined after the events were taken.
    if !host.contains(peer) { takePeerEvents() }
    if message == .inputs, host.contains(peer) { arrivals[peer] = now }
    do throws(DecodeError) {
      try host.receive(message, bytes.span, from: peer, at: now)
    } catch {
      peer.reject(channel)
    }
  }

  private func send() {
    hasNewcomers = false
    while true {
      writer.removeAll()
      guard let (peer, message) = host.pollTransmit(into: &writer) else { return }
      if finished.contains(peer) { continue }
      channels.post(message, writer.bytes, to: peer)
    }
  }
}

extension RollbackServer {
  /// Serves the match to the peers of a session, tick by tick, until the session ends or the task
  /// is cancelled; see `HostedRollback`. The peers can control `remotePlayers`, by default all
  /// players. `prepare` is called before each tick, for example to set the inputs of the other
  /// players. During the call, the server's events are those of the previous tick.
  public func run(
    over session: Session, channels: RollbackChannels = RollbackChannels(),
    remotePlayers: [Int]? = nil,
    _ prepare: (HostedRollback<Game>) async throws -> Void = { _ in }
  ) async throws {
    let match = HostedRollback(
      self, over: session, channels: channels, remotePlayers: remotePlayers)
    try await match.run(prepare)
  }
}
