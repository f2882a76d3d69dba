import CaromCore
import CaromCrypto
import CaromPlacement
import CaromProtocol
import CaromSession
import CaromTransport

/// The matches that a fleet gives to a host, and their players on the host's session: players who
/// have left give their seats back, and players of a match that goes on at another host are sent
/// there, with a connect token for it. The host gives its players door tokens, and answers the
/// players of other hosts who ask where their match is.
///
/// `Session.host(in:as:…)` makes it.
public actor FleetMatches: LoopActor {
  /// What happens to the matches of a host, and to the host in its fleet.
  public enum Event: Hashable, Sendable {
    /// The host is in the fleet, for the first time or again.
    case registered
    /// Begin this match, or go on with it from the checkpoint. Its players come next, or have come.
    case began(MatchID, Checkpoint?, players: [PeerID])
    /// Another host goes on with the match, and its players are sent there.
    case moved(MatchID)
    /// The match is not this host's any more, because nobody has come, or another host may have it.
    case ended(MatchID)
    /// The result of the match is recorded.
    case finished(MatchID)
    /// No other host can go on with the match: it stays, and `move` can be called again.
    case notMoved(MatchID, PlacementRefusal)
    /// The host shall get no more matches, and move those that it has. Told once.
    case drainRequested
    /// The time is over that the host had to find other hosts for its matches: these are still
    /// here. End the host, or end them.
    case patienceEnded([MatchID])
    /// The last player of the match has left, at this time of the loop. The match stays until
    /// `finish` ends it, unless somebody comes back. If that was before the match began, this
    /// follows `began`.
    case emptied(MatchID, at: Instant)
    /// The directory cannot be reached, for this reason; matches go on.
    case away(RedisError)
    /// The directory can be reached again.
    case back
    /// The directory does not let the host into the fleet, for this reason. The host asks again,
    /// for 4 seconds in all; `registered` follows, or `left`. That another process has the host's
    /// identity is told only when it keeps it for longer than a dead process has a lease.
    case refused(RegistrationRefusal)
    /// The host has left the fleet: as it wanted to if there is no reason, or because the directory
    /// has not let it in.
    case left(because: RegistrationRefusal?)
  }

  /// How long the host waits before it asks again for another host for a match that it cannot run.
  private static let retryInterval = Duration.seconds(1)
  /// How long another process may have the host's identity before the game is told: a lease, which
  /// a process that has just died still has, and the time until the host asks again.
  private static let identityLimit = PlacementRules.lease + FleetHost.retryInterval

  /// The loop of the session, and of the connection to the directory.
  public nonisolated let loop: NetworkLoop
  package nonisolated let membership: FleetMembership
  let session: Session
  private let gate: FleetGate
  let key: BackendKey
  var generator: LoopGenerator
  /// The matches of the host, and those that it has moved, until their players have left.
  private var matches: Set<MatchID> = []
  /// When the last player left a match of the host that has not begun yet.
  private var emptiedEarly: [MatchID: Instant] = [:]
  private(set) var players: [Peer: MatchID] = [:]
  /// The matches of players whose connection another one of theirs has replaced.
  private var replaced: [PeerID: MatchID] = [:]
  var doors = FleetDoors()
  private var loadMeter = FleetLoadMeter()
  private var isDrainRequested = false
  /// Ends the patience of a drain.
  private var patience: LoopTimer?
  /// Tells the game that another process has the host's identity.
  private var identityTimer: LoopTimer?
  /// Whether the host has begun to leave the fleet.
  private var isLeaving = false
  private var reader: Task<Void, Never>?
  private let handle: @Sendable (Event) -> Void
  private nonisolated let untaken: Locked<[Event]>

  /// Creates the matches of a host that joins the fleet with `begin`. The session accepts connect
  /// tokens with the fleet's key, admits players by the `gate`, and runs on one loop, which is that
  /// of the membership. `handle` is called on the loop with all that happens; if it is nil,
  /// `takeEvents` returns it.
  package init(
    of membership: FleetMembership, over session: Session, gate: FleetGate, key: BackendKey,
    _ handle: (@Sendable (Event) -> Void)? = nil
  ) {
    precondition(
      session.loops.count == 1 && session.loop === membership.loop,
      "the session and the membership of a fleet's host run on one loop")
    loop = membership.loop
    self.membership = membership
    self.session = session
    self.gate = gate
    self.key = key
    let untaken = Locked<[Event]>([])
    self.untaken = untaken
    self.handle = handle ?? { event in untaken.withLock { $0.append(event) } }
    generator = LoopGenerator(of: loop)
  }

  /// Registers the host.
  package func begin() async {
    await session.observe { [weak self] event in self?.assumeIsolated { $0.observe(event) } }
    await session.answerQuestions { [weak self] question in
      self?.assumeIsolated { $0.take(question) }
    }
    reader = Task { [weak self, membership] in
      for await event in membership.events { await self?.take(event) }
    }
    loadMeter.begin(on: loop, owner: self) { $0.reportLoad() }
    gate.open(for: membership)
    await membership.join()
  }

  private func reportLoad() {
    let load = loadMeter.next(loop.load, at: loop.now)
    membership.assumeIsolated { $0.report(load) }
  }

  // MARK: What the game does

  /// Returns what has happened since the last call, the oldest event first. Can be called from any
  /// thread; call it in each tick.
  public nonisolated func takeEvents() -> [Event] {
    untaken.withLock { events in
      defer { events = [] }
      return events
    }
  }

  /// The match for which a peer has come; nil if it has left, or has come to ask something.
  public func match(of peer: Peer) -> MatchID? { players[peer] }

  /// The peers who play a match.
  public func players(of match: MatchID) -> [Peer] {
    players.filter { $0.value == match }.map(\.key)
  }

  /// Sets the checkpoint of a match. It is sent with the next renewal, or at once if `isUrgent`.
  public func save(_ checkpoint: Checkpoint, of match: MatchID, isUrgent: Bool = false) {
    membership.assumeIsolated { $0.save(checkpoint, of: match, isUrgent: isUrgent) }
  }

  /// The tick of the newest checkpoint of a match that the directory is known to have. If this host
  /// dies, another one goes on from there or from a later checkpoint. Nil if there is none, and
  /// after the directory was away until it has the checkpoint again.
  ///
  /// Players who are told of an event only when its tick is saved never see it undone.
  public func savedTick(of match: MatchID) -> UInt64? {
    membership.assumeIsolated { $0.savedTick(of: match) }
  }

  /// Has the game drain the host: the event `drainRequested` follows, as if an operator had asked
  /// for it, and `patienceEnded` after `patience` if the host still has matches then. Can be called
  /// from any thread, for example when the process is told to end.
  public nonisolated func requestDrain(patience: Duration? = nil) {
    loop.post { [weak self] in self?.assumeIsolated { $0.handleDrainRequest(patience) } }
  }

  private func handleDrainRequest(_ patience: Duration?) {
    setPatience(patience)
    guard !isDrainRequested else { return }
    isDrainRequested = true
    handle(.drainRequested)
  }

  private func setPatience(_ duration: Duration?) {
    guard let duration, !isLeaving else { return }
    if patience == nil { patience = LoopTimer(on: loop, owner: self) { $0.endPatience() } }
    patience?.arm(after: duration)
  }

  private func endPatience() {
    if !matches.isEmpty { handle(.patienceEnded(matches.sorted())) }
  }

  /// Lets the host get no more matches. If it still has some after `patience`, `patienceEnded`
  /// follows; an operator's patience counts as well.
  public func drain(patience: Duration? = nil) {
    setPatience(patience)
    membership.assumeIsolated { $0.drain() }
  }

  /// Asks for another host for a match, which must not change any more. `moved` follows, or
  /// `notMoved`.
  public func move(_ match: MatchID, _ checkpoint: Checkpoint?) {
    membership.assumeIsolated { $0.move(match, checkpoint) }
  }

  /// Takes `move` back, because the directory cannot be reached: the match goes on here. If the
  /// directory has moved it already, `moved` follows when it is back.
  public func keep(_ match: MatchID) { membership.assumeIsolated { $0.keep(match) } }

  /// Reports that a match is over, with a result of at most 8,192 bytes. When the directory has it,
  /// `finished` follows, and players who are still here are told that the match is over.
  public func finish(_ match: MatchID, result: [UInt8]) {
    membership.assumeIsolated { $0.finish(match, result: result) }
  }

  /// Leaves the fleet; see `FleetMembership.withdraw`. Players of a match that is still here are
  /// told that the host leaves without another one for it, and everybody else that the match is
  /// elsewhere. All of them ask the fleet.
  package func withdraw() async {
    isLeaving = true
    doors.timer?.cancel()
    loadMeter.end()
    patience?.cancel()
    identityTimer?.cancel()
    for (peer, match) in players {
      if matches.contains(match) {
        peer.disconnect(Goodbye(.left))
      } else {
        sendAway(peer, to: nil)
      }
    }
    await membership.withdraw()
    await reader?.value
  }

  // MARK: The players

  private func observe(_ event: PeerEvent) {
    switch event {
    case .joined(let peer):
      guard !isLeaving else { return sendAway(peer, to: nil) }
      guard let claim = FleetGate.claim(of: peer.info) else { return }
      players[peer] = claim.match
      emptiedEarly[claim.match] = nil
      if let earlier = replaced.removeValue(forKey: peer.id), earlier != claim.match {
        remove(peer.id, from: earlier)
        noteEmpty(earlier)
      }
      tellDoors(to: peer)
    case .left(let peer, let reason):
      guard let match = players.removeValue(forKey: peer) else { return }
      let present = players.filter { $0.key.id == peer.id }.map(\.value)
      if reason == .replaced, present.isEmpty {
        // The player's new connection, which joins next, says in which match the player is.
        replaced[peer.id] = match
      } else if !present.contains(match) {
        remove(peer.id, from: match)
        noteEmpty(match)
      }
    default: break
    }
  }

  private func noteEmpty(_ match: MatchID) {
    guard players(of: match).isEmpty, !isLeaving else { return }
    if matches.contains(match) {
      handle(.emptied(match, at: loop.now))
    } else if membership.assumeIsolated({ $0.has(match) }) {
      emptiedEarly[match] = loop.now
    }
  }

  private func remove(_ player: PeerID, from match: MatchID) {
    membership.assumeIsolated { $0.remove(player, from: match) }
  }

  private func sendAway(_ peer: Peer, to placement: Placement?) {
    peer.disconnect(Goodbye(movedTo: nextHost(for: peer.id, placement)))
  }

  private func nextHost(for player: PeerID, _ placement: Placement?) -> NextHost {
    guard let placement,
      // It throws if the host has registered an endpoint to which nobody can connect.
      let token = try? placement.token(
        for: player, key: key, at: UnixTime(milliseconds: WallClock.milliseconds),
        using: &generator)
    else { return NextHost() }
    return NextHost(at: placement.host.endpoints, token: token)
  }

  // MARK: What the fleet says

  private func take(_ event: FleetMembership.Event) {
    switch event {
    case .away(let error): handle(.away(error))
    case .back: handle(.back)
    case .host(let event): take(event)
    }
  }

  private func take(_ event: FleetHost.Event) {
    switch event {
    case .assigned(let claim, let checkpoint, let players):
      begin(claim.match, checkpoint, players)
    case .lost(let claim, let placement):
      end(claim.match, placement == nil ? .ended(claim.match) : .moved(claim.match), placement)
    case .unclaimed(let claim): end(claim.match, .ended(claim.match), nil)
    case .finished(let claim): end(claim.match, .finished(claim.match), nil)
    case .notMoved(let claim, let refusal): handleNotMoved(claim.match, refusal)
    case .noSeat(let claim, let player):
      for peer in players(of: claim.match) where peer.id == player {
        peer.disconnect(Goodbye(.full), as: .full)
      }
    case .drainRequested(let patience): handleDrainRequest(patience)
    case .refused(let refusal): handleRefusal(refusal)
    case .gaveUp(let refusal):
      if identityTimer?.deadline != nil { tellOfOtherProcess() }
      handle(.left(because: refusal))
    case .withdrawn: handle(.left(because: nil))
    case .registered:
      identityTimer?.cancel()
      handle(.registered)
      findDoors()
    case .leaseEnded: break
    }
  }

  private func handleRefusal(_ refusal: RegistrationRefusal) {
    guard refusal == .identityInUse else {
      identityTimer?.cancel()
      return handle(.refused(refusal))
    }
    if identityTimer == nil {
      identityTimer = LoopTimer(on: loop, owner: self) { $0.tellOfOtherProcess() }
    }
    identityTimer?.arm(after: Self.identityLimit)
  }

  private func tellOfOtherProcess() {
    identityTimer?.cancel()
    handle(.refused(.identityInUse))
  }

  private func begin(_ match: MatchID, _ checkpoint: Checkpoint?, _ players: [PeerID]) {
    if gate.takesOneMatch {
      guard gate.match == nil || gate.match == match else { return move(match, checkpoint) }
      gate.match = match
    }
    matches.insert(match)
    handle(.began(match, checkpoint, players: players))
    if let time = emptiedEarly.removeValue(forKey: match) { handle(.emptied(match, at: time)) }
  }

  private func end(_ match: MatchID, _ event: Event, _ placement: Placement?) {
    if matches.remove(match) != nil { handle(event) }
    emptiedEarly[match] = nil
    // A match may have been moved before the game has heard of it.
    for peer in players(of: match) {
      if event == .finished(match) {
        // The directory may have forgotten the match when they ask.
        peer.disconnect(Goodbye(.finished))
      } else {
        sendAway(peer, to: placement)
      }
    }
    if gate.match == match { gate.match = nil }
  }

  private func handleNotMoved(_ match: MatchID, _ refusal: PlacementRefusal) {
    guard !matches.contains(match) else { return handle(.notMoved(match, refusal)) }
    // Another match is played here: this one waits for another host, or until nobody wants it.
    Task { [weak self, loop] in
      guard (try? await loop.sleep(until: loop.now + Self.retryInterval)) != nil else { return }
      await self?.membership.move(match, nil)
    }
  }
}
