import Carom
import CaromFleet
import Dispatch
import Foundation

/// A host of the fleet. A goal is told to players only when the directory has it, so that the death
/// of this host undoes nothing that a player has seen.
struct TallyHost {
  /// A match at this host.
  private struct Table {
    var tally: Tally
    /// The number of goals that the directory has.
    var saved: Int
    /// Whether the match waits for another host, and must not change meanwhile.
    var isMoving = false
    /// The players who know all goals.
    var done: Set<PeerID> = []
    var isFinishing = false
    /// How many goals each player here has been told.
    var told: [Peer: Int] = [:]

    init(_ tally: Tally) {
      self.tally = tally
      saved = tally.goals.count
    }
  }

  private static let hertz = 20

  private let session: Session
  private let matches: FleetMatches
  private var tables: [MatchID: Table] = [:]
  /// What has come from players while their match was about to move, or before it has begun.
  private var waiting: [Received<PlayerMessage>] = []
  private var isDraining = false
  private var isAway = false
  private var hasLeft = false

  private init(_ session: Session, _ matches: FleetMatches) {
    (self.session, self.matches) = (session, matches)
  }

  static func run(
    in fleet: FleetAddress, key: BackendKey, at address: IPAddress?, seats: Int
  ) async throws {
    guard let address else { return FleetPeer.emit("usage") }
    let identity = Identity.random()
    let settings = FleetSettings(
      fleet, key: key, as: identity, game: FleetPeer.game, addresses: [address])
    let me = PeerInfo(name: address.description, application: FleetPeer.application)
    try await withNetworkLoop { loop in
      try await Task(executorPreference: loop) {
        try await Session.host(in: settings, as: me, seats: seats, loop: loop) {
          session, matches in
          signal(SIGTERM, SIG_IGN)
          let source = DispatchSource.makeSignalSource(signal: SIGTERM)
          source.setEventHandler { matches.requestDrain() }
          source.resume()
          FleetPeer.emit("host", ["id": "\(PeerID(of: identity.publicKey))"])
          var host = TallyHost(session, matches)
          for await step in FixedStep(hertz: hertz, on: loop) where await host.run(step) { break }
          source.cancel()
        }
        FleetPeer.emit("ended")
      }.value
    }
  }

  /// Runs a tick. Returns whether this host is done.
  private mutating func run(_ step: FixedStep.Step) async -> Bool {
    for event in matches.takeEvents() { await handle(event) }
    guard !hasLeft else { return true }
    let messages = waiting + session.takeMessages(on: .player)
    waiting = []
    for message in messages { await handle(message) }
    for match in tables.keys.sorted() { await update(match) }
    guard isDraining else { return false }
    if tables.isEmpty { return true }
    if step.tick.rawValue.isMultiple(of: UInt64(Self.hertz)), !isAway {
      for (match, table) in tables where !table.isMoving && !table.isFinishing {
        await move(match, table.tally)
      }
    }
    return false
  }

  private mutating func handle(_ event: FleetMatches.Event) async {
    switch event {
    case .registered: FleetPeer.emit("registered")
    case .began(let match, let checkpoint, let players):
      var tally = Tally(players)
      if let checkpoint {
        do { tally = try Tally(decoding: checkpoint.state.span) } catch {
          FleetPeer.emit("damaged", ["match": "\(match)"])
        }
      }
      tables[match] = Table(tally)
      tell("began", match, ["goals": tally.goals.count])
    case .moved(let match): end(match, "moved")
    case .ended(let match): end(match, "lost")
    case .finished(let match): end(match, "finished")
    case .notMoved(let match, _): tables[match]?.isMoving = false
    case .drainRequested:
      FleetPeer.emit("draining")
      isDraining = true
      await matches.drain()
    case .away(let error):
      FleetPeer.emit("away", ["text": "\(error)"])
      isAway = true
      for match in tables.keys where tables[match]?.isMoving == true {
        tables[match]?.isMoving = false
        await matches.keep(match)
      }
    case .back:
      FleetPeer.emit("back")
      isAway = false
    case .refused(let refusal): FleetPeer.emit("refused", ["text": "\(refusal)"])
    case .emptied, .patienceEnded: break
    case .left: hasLeft = true
    }
  }

  private mutating func end(_ match: MatchID, _ event: String) {
    tell(event, match, ["goals": tables[match]?.tally.goals.count ?? 0])
    tables[match] = nil
  }

  private func tell(_ event: String, _ match: MatchID, _ more: [String: Any]) {
    FleetPeer.emit(event, more.merging(["match": "\(match)"]) { $1 })
  }

  private mutating func handle(_ received: Received<PlayerMessage>) async {
    let peer = received.peer
    guard let match = await matches.match(of: peer) else { return }
    guard var table = tables[match], !table.isMoving else { return waiting.append(received) }
    let number = received.message.number
    switch received.message.kind {
    case .hello:
      let shots = table.tally.shots(of: peer.id)
      guard peer.post(.welcome(goals: UInt32(table.saved), shots: shots), on: .host) else {
        return waiting.append(received)
      }
      table.told[peer] = Int(number)
    case .shot:
      guard table.tally.count(number, of: peer.id) else { break }
      if let checkpoint = Self.checkpoint(of: table.tally) {
        await matches.save(checkpoint, of: match, isUrgent: true)
      }
    case .done:
      table.done.insert(peer.id)
      if table.done.count == table.tally.players.count, !table.isFinishing {
        table.isFinishing = true
        await matches.finish(match, result: table.tally.encoded)
      }
    }
    tables[match] = table
  }

  /// Tells the players of a match what the directory has of it.
  private mutating func update(_ match: MatchID) async {
    guard var table = tables[match], !table.isMoving else { return }
    if let saved = await matches.savedTick(of: match) { table.saved = max(table.saved, Int(saved)) }
    let players = await matches.players(of: match)
    for peer in players {
      guard var told = table.told[peer] else { continue }
      while told < table.saved,
        peer.post(.goal(UInt32(told + 1), by: table.tally.goals[told]), on: .host)
      {
        told += 1
      }
      table.told[peer] = told
      _ = peer.post(Pulse(UInt32(table.saved)), on: .pulse)
    }
    tables[match] = table
  }

  private mutating func move(_ match: MatchID, _ tally: Tally) async {
    tables[match]?.isMoving = true
    await matches.move(match, Self.checkpoint(of: tally))
  }

  private static func checkpoint(of tally: Tally) -> Checkpoint? {
    Checkpoint(tick: tally.tick, state: tally.encoded)
  }
}
