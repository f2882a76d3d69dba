import CaromCore

/// The machine of a host in a fleet: it keeps the host's lease, takes seats for the players who
/// join, and sends checkpoints.
///
/// Commands to the directory come from `pollRequest`; each has the number of the connection on
/// which it must be sent. A new number means that the old connection must be closed and another one
/// opened. The answers on a connection come in the order of the requests. After each call of a
/// mutating method, poll the requests and the events until there are none.
///
/// While the directory cannot be reached, matches go on. The host admits nobody any more when its
/// lease has ended, which it notices before the directory does: it counts from the moment at which
/// it sent the last renewal that was answered.
package struct FleetHost: Sendable {
  /// A command and the number of the connection on which it must be sent.
  package struct Request: Hashable, Sendable {
    package let connection: UInt64
    package let command: DirectoryCommand
  }

  package enum Event: Hashable, Sendable {
    /// The host has a lease, for the first time or again.
    case registered
    /// The lease has ended: the host admits nobody until it has registered again.
    case leaseEnded
    /// The host has a match to begin, or to go on with from a checkpoint.
    case assigned(MatchClaim, Checkpoint?, players: [PeerID])
    /// The match is not the host's any more: it stops the match, and sends the players to the host
    /// of the placement if there is one. The match may never have been assigned, if a player came
    /// with a claim that did not count any more.
    case lost(MatchClaim, to: Placement?)
    /// No player has come, so the match was taken back.
    case unclaimed(MatchClaim)
    /// No other host can go on with the match.
    case notMoved(MatchClaim, PlacementRefusal)
    /// The match's result is recorded.
    case finished(MatchClaim)
    /// The player came too late and the host is full: the player must leave.
    case noSeat(MatchClaim, player: PeerID)
    /// An operator wants the host to get no more matches and to move those that it has, and to end
    /// after `patience` even if it still has some. Told once, and again with another patience.
    case drainRequested(patience: Duration?)
    /// The directory does not let the host in, for this reason. The host has no lease, asks again,
    /// and leaves if the reason stays. Told once.
    case refused(RegistrationRefusal)
    /// The host has left the fleet, because the directory has not let it in for 4 seconds.
    case gaveUp(RegistrationRefusal)
    /// The host has left the fleet, as it wanted to.
    case withdrawn
  }

  /// What the host answers to a player who comes with a claim in a token.
  package enum Admission: Hashable, Sendable {
    /// The player may join.
    case accepted
    /// The host has no lease, does not know the claim yet, or has finished the match. The player
    /// should try again, or ask the fleet where the match is.
    case tryAgain
    /// All seats are taken.
    case full
    /// The claim is another host's.
    case otherHost
  }

  enum Standing: Hashable, Sendable {
    /// The host has no connection, and opens one at this time.
    case away(retryAt: Instant)
    /// The registration was sent, and its answer has not arrived. The directory handles what is
    /// sent next after it.
    case registering
    case registered(nextRenewal: Instant)
    /// The directory has not let the host in, which asks again at this time.
    case refused(retryAt: Instant)
    /// The host has told the directory that it leaves, and waits for the answer.
    case leaving
    /// The host has left the fleet.
    case left
  }

  struct Outstanding: Sendable {
    let command: HostCommand
    let sent: Instant
  }

  /// How long the host waits before it connects to the directory again, unless it is told how long.
  package static let retryInterval = Duration.milliseconds(500)
  /// How long a host that is not let in asks again. A process that is dead has no lease any more
  /// then, although what it sent last may have arrived late.
  static let refusalLimit = PlacementRules.lease + .seconds(1)
  /// The maximum number of requests without an answer. A directory that is so slow is treated as
  /// one that cannot be reached.
  static let requestLimit = 8_192

  package let record: HostRecord
  let keys: HostKeys
  let run: UInt64
  /// The matches that the host runs or was given.
  package internal(set) var matches: [MatchID: HostedClaim] = [:]
  var finished = FinishedMatches()
  package var load = HostLoad()
  package internal(set) var isDraining = false
  /// The patience of the operator who drains the host.
  var patience: Duration?

  var standing: Standing
  var connection: UInt64 = 0
  /// When the host's lease ends at the earliest; nil if it has none.
  var leaseEnd: Instant?
  /// Why the directory has not let the host in since the host had its last lease, and since when
  /// it has not on this connection.
  var refusal: RegistrationRefusal?
  var refusedSince: Instant?
  var requests = Deque<Request>()
  var outstanding = Deque<Outstanding>()
  var events = Deque<Event>()

  /// Creates the machine of a host that registers at once. `run` must be a random number that no
  /// other process of the host uses.
  package init(
    _ record: HostRecord, keys: HostKeys = HostKeys(), run: UInt64, at now: Instant
  ) {
    self.record = record
    self.keys = keys
    self.run = run
    standing = .away(retryAt: now)
  }

  /// Whether the host may admit players.
  package func isAdmitting(at now: Instant) -> Bool { leaseEnd.map { now < $0 } ?? false }

  /// The number of players at the host.
  package var playerCount: Int { matches.values.reduce(0) { $0 + $1.players.count } }

  package mutating func pollRequest() -> Request? { requests.popFirst() }

  package mutating func pollEvent() -> Event? { events.popFirst() }

  package var nextTimeout: Instant? {
    let step: Instant? =
      switch standing {
      case .away(let retryAt), .refused(let retryAt): retryAt
      case .registering, .leaving, .left: nil
      case .registered(let nextRenewal): nextRenewal
      }
    let silence = outstanding.first.map { $0.sent + PlacementRules.lease }
    return earliest(earliest(step, silence), leaseEnd)
  }

  package mutating func handleTimeout(at now: Instant) {
    if let end = leaseEnd, end <= now {
      leaseEnd = nil
      events.append(.leaseEnded)
    }
    if let first = outstanding.first, first.sent + PlacementRules.lease <= now {
      disconnect(retryAt: now)
    }
    switch standing {
    case .away(let retryAt) where retryAt <= now: connect(at: now)
    case .registered(let nextRenewal) where nextRenewal <= now:
      standing = .registered(nextRenewal: now + PlacementRules.renewalInterval)
      send(.renew(load), at: now)
      sendCheckpoints(at: now)
    case .refused(let retryAt) where retryAt <= now: register(at: now)
    default: break
    }
  }

  /// Reports that a connection to the directory could not be opened or has broken. The host opens
  /// another one after `delay`.
  package mutating func handleDisconnect(
    of connection: UInt64, retryAfter delay: Duration = retryInterval, at now: Instant
  ) {
    guard connection == self.connection else { return }
    if case .away = standing { return }
    disconnect(retryAt: now + delay)
  }

  mutating func disconnect(retryAt: Instant) {
    outstanding.removeAll()
    requests.removeAll()
    refusedSince = nil
    switch standing {
    case .away, .registering, .registered, .refused: standing = .away(retryAt: retryAt)
    case .leaving: leave(.withdrawn)
    case .left: break
    }
  }

  /// Ends what the host has to do with the fleet.
  mutating func leave(_ event: Event) {
    standing = .left
    leaseEnd = nil
    events.append(event)
  }

  private mutating func connect(at now: Instant) {
    connection += 1
    register(at: now)
  }

  /// Tells the directory all that the host has, so that nothing that was said before matters.
  mutating func register(at now: Instant) {
    standing = .registering
    let ids = matches.keys.sorted()
    let holding = ids.compactMap { matches[$0] }.filter(\.isConfirmed).map {
      HeldMatch($0.claim, players: $0.players)
    }
    let registration = HostRegistration(
      record, keys: keys, isDraining: isDraining, holding: holding)
    send(.register(registration), at: now)
    for id in ids {
      // The directory may have forgotten everything.
      matches[id]?.forgetSaved()
      if let match = matches[id], !match.isResumed { send(.resume(match.claim), at: now) }
      sendEnding(of: id, at: now)
    }
  }

  /// Sends a command, unless the host has to register first.
  mutating func send(_ command: HostCommand, at now: Instant) {
    switch standing {
    case .away, .refused, .left: return
    case .registering, .registered, .leaving: break
    }
    guard outstanding.count < Self.requestLimit else { return disconnect(retryAt: now) }
    outstanding.append(Outstanding(command: command, sent: now))
    let sender = CommandSender(record.id, run: run, connection: connection)
    requests.append(Request(connection: connection, command: .host(command, from: sender)))
  }
}
