import AirHockey
import Carom
import CaromFleet
import CaromPlacement
import CaromSimulation
import CommandSupport

/// What a host knows of the match that its fleet has placed at its table.
struct FleetHosting {
  /// The time between two checkpoints, in ticks.
  static let checkpointInterval = UInt64(Preset.ticksPerSecond)
  /// How long a host that was told to end tries to find another host for its match, before it ends
  /// without one, unless an option says how long. The fleet can go on with the match for longer
  /// than that.
  static let drainLimit = Duration.seconds(10)
  /// The time between two attempts to find another host.
  static let retryInterval = Duration.seconds(1)

  let matches: FleetMatches
  /// How long a host that drains tries to find another host for its match, if an option says so.
  var patience: Duration?
  /// The match at the table; nil if there is none.
  var match: MatchID?
  /// Whether the match stands still, because another host is to get it as it is.
  var isMoving = false
  /// Whether the host gets no more matches, and ends when it has none.
  var isDraining = false
  /// Whether the directory cannot be reached. The match is not moved meanwhile.
  var isAway = false
  /// Why no other host could take the match over when the directory was asked last.
  var refusal: PlacementRefusal?
  /// When a draining host tries again to find another host for its match.
  var retryAt: Instant?
  /// When a host that was told to end does so even if it still has a match.
  var endBy: Instant?
}

// The table of a fleet's host: the fleet places a match there, and may move it to another table.
extension NetGame {
  /// Begins to host the matches of a fleet. Call this before `play`.
  func becomeFleetHost(_ matches: FleetMatches, patience: Duration?) {
    fleet = FleetHosting(matches: matches, patience: patience)
  }

  /// Handles what happens to the matches of the fleet.
  func handle(_ event: FleetMatches.Event) {
    guard !isOver else { return }
    switch event {
    case .registered:
      guard let membership = fleet?.matches.membership else { return }
      display.write("in the fleet \(membership.address.fleet) as \(membership.record.id)")
    case .began(let match, let checkpoint, _): begin(match, from: checkpoint)
    case .moved(let match) where match == fleet?.match:
      if case .host(let match) = role { match.finish() }
      display.write("the match goes on at another table")
      clearTable()
    case .ended(let match) where match == fleet?.match:
      display.write("the match has ended at this table")
      clearTable()
    case .notMoved(let match, let refusal) where match == fleet?.match: stay(because: refusal)
    case .drainRequested: drain()
    case .patienceEnded: endDrained()
    case .away(let error): playOn(because: error)
    case .back: handleReturn()
    case .refused(let refusal): warn("not in the fleet yet: \(refusal)")
    case .left(because: let refusal?):
      summary.status = .notPermitted
      end("not in the fleet: \(refusal)", Goodbye(.moved))
    // Nothing to do: this game ends a match itself when both players have left for good.
    case .emptied: break
    case .left, .moved, .ended, .notMoved, .finished: break
    }
  }

  private func begin(_ match: MatchID, from checkpoint: Checkpoint?) {
    fleet?.match = match
    fleet?.isMoving = false
    guard let checkpoint else {
      becomeHost()
      return display.write("match \(match) begins at this table")
    }
    do throws(DecodeError) {
      let saved = try RollbackCheckpoint<Rink>(decoding: checkpoint.state.span)
      guard saved.rate == Preset.ticksPerSecond, saved.state.state.tick == saved.tick else {
        throw .invalid(what: "checkpoint of a match")
      }
      becomeHost(from: saved)
      display.write("match \(match) goes on at this table at \(saved.state.state.score)")
    } catch {
      // A host of another version would have another name in the directory.
      warn("match \(match) cannot go on: its checkpoint is damaged (\(error))")
      becomeHost()
    }
  }

  /// Forgets the match that has gone, so that the next one can come.
  private func clearTable() {
    summary.score = confirmedState?.score ?? summary.score
    role = .undecided
    isPlaying = false
    fleet?.match = nil
    fleet?.refusal = nil
    fleet?.isMoving = false
    clientSeats = ClientSeats(strength: setup.strength, seed: .random(in: 0 ... .max))
    clientPeers = SeatValues(nil, nil)
    names = SeatValues(nil, nil)
  }

  /// Lets the host get no more matches, and moves the one that it has.
  private func drain() {
    guard let fleet, !fleet.isDraining else { return }
    self.fleet?.isDraining = true
    display.write("this table takes no more matches")
    // A host that was told to end does so at `endBy`, whatever the fleet says.
    let patience = fleet.endBy == nil ? fleet.patience : nil
    fleet.matches.assumeIsolated { $0.drain(patience: patience) }
    moveMatch()
  }

  /// Stops the match and asks for another host, unless the directory is away.
  private func moveMatch() {
    guard let fleet, let match = fleet.match, !fleet.isAway else { return }
    self.fleet?.isMoving = true
    self.fleet?.retryAt = nil
    isPlaying = false
    var checkpoint: Checkpoint?
    if case .host(let hosted) = role {
      hosted.isPaused = true
      checkpoint = Checkpoint(hosted.checkpoint)
    }
    fleet.matches.assumeIsolated { $0.move(match, checkpoint) }
  }

  /// Plays on here, and tries again later.
  private func stay(because refusal: PlacementRefusal) {
    fleet?.retryAt = loop.now + FleetHosting.retryInterval
    if refusal != fleet?.refusal { warn("the match stays here: \(refusal)") }
    fleet?.refusal = refusal
    playOn()
  }

  /// Plays on while the directory is away. A match that was about to move stays here.
  private func playOn(because error: RedisError) {
    warn(error.line + (fleet?.match == nil ? ": trying again" : "; the match goes on"))
    fleet?.isAway = true
    fleet?.retryAt = nil
    guard let fleet, fleet.isMoving, let match = fleet.match else { return }
    fleet.matches.assumeIsolated { $0.keep(match) }
    playOn()
  }

  private func playOn() {
    fleet?.isMoving = false
    guard case .host(let match) = role, !clientSeats.isEmpty else { return }
    match.isPaused = false
    isPlaying = true
  }

  /// Moves the match of a draining host, now that the directory is back.
  private func handleReturn() {
    warn("the fleet's directory is back")
    fleet?.isAway = false
    if fleet?.isDraining == true { moveMatch() }
  }

  /// Ends this host, which takes no more matches. If it still has one, its players are told that
  /// the host leaves without another one for it.
  private func endDrained() {
    guard let match = fleet?.match else {
      // By now the players of a match that has moved have been told where.
      return end("drained", Goodbye(.moved))
    }
    let reason = fleet?.isAway == true ? "the directory is away" : fleet?.refusal?.description
    warn("no other table has taken match \(match) over" + (reason.map { ": \($0)" } ?? ""))
    summary.status = .matchesLeft
    end("1 match left", Goodbye(.left))
  }

  /// Does what the fleet needs once per frame. Returns false if the game has ended.
  func runFleet(at now: Instant) -> Bool {
    guard let fleet, !isOver else { return !isOver }
    if Interrupts.isRequested, fleet.endBy == nil {
      self.fleet?.endBy = now + (fleet.patience ?? FleetHosting.drainLimit)
      drain()
    } else if fleet.isDraining, fleet.match == nil {
      endDrained()
    } else if let endBy = fleet.endBy, endBy <= now {
      endDrained()
    } else if let retryAt = fleet.retryAt, retryAt <= now {
      moveMatch()
    }
    return !isOver
  }

  /// Sends the checkpoint of the match when it is due, and at once after a goal.
  func saveCheckpoint(of match: HostedRollback<Rink>) {
    guard let fleet, let id = fleet.match else { return }
    let isUrgent = match.server.events.contains { if case .goal = $0 { true } else { false } }
    guard isUrgent || match.server.tick.rawValue % FleetHosting.checkpointInterval == 0,
      let checkpoint = Checkpoint(match.checkpoint)
    else { return }
    fleet.matches.assumeIsolated { $0.save(checkpoint, of: id, isUrgent: isUrgent) }
  }

  /// Ends the match of the fleet, because both players have left for good.
  func finishFleetMatch(_ state: RinkState) {
    guard let fleet, let match = fleet.match else { return }
    let result = "\(state.score) in game \(state.match)"
    display.write("match \(match) is over at \(result)")
    fleet.matches.assumeIsolated { $0.finish(match, result: Array(result.utf8)) }
    clearTable()
  }
}

extension Checkpoint {
  /// Creates the checkpoint of a match of air hockey; nil if it does not fit, which cannot happen:
  /// a state has 89 bytes.
  init?(_ checkpoint: RollbackCheckpoint<Rink>) {
    self.init(tick: checkpoint.tick.rawValue, state: checkpoint.encoded)
  }
}
