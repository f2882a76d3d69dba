import CaromCore

@testable import CaromPlacement

/// A computer of the fleet, with a host's process on it unless that has died.
struct FleetWorldHost {
  let record: HostRecord
  var machine: FleetHost?
  /// The number of the process.
  var run: UInt64 = 0
  /// When the host is woken next.
  var wakeTime = Instant.distantFuture
  /// Whether nothing passes between the host and the directory.
  var isCut = false
  /// When the last command and the last answer of a connection arrive, so that they keep their
  /// order.
  var lastCommand = Instant.zero
  var lastAnswer = Instant.zero
  /// The matches that the process simulates.
  var games: [MatchID: FleetWorldGame] = [:]

  init(_ record: HostRecord) { self.record = record }
}

/// A match that a host simulates.
struct FleetWorldGame {
  var tick: UInt64
  let end: Instant
}

extension FleetWorld {
  /// Starts a process of a host.
  func start(_ index: Int) {
    hosts[index].run += 1
    hosts[index].games = [:]
    hosts[index].machine = FleetHost(hosts[index].record, run: hosts[index].run, at: now)
    setWakeTime(of: index, to: now + generator.duration(in: .zero...Duration.seconds(1)))
    schedule(.pulse(host: index), within: .zero...Duration.milliseconds(500))
  }

  /// Changes the machine of a host, and carries out what it wants.
  func touch(_ index: Int, _ body: (inout FleetHost) -> Void) {
    guard hosts[index].machine != nil else { return }
    body(&hosts[index].machine!)
    while let request = hosts[index].machine?.pollRequest() { send(request, from: index) }
    while let event = hosts[index].machine?.pollEvent() { handle(event, at: index) }
    if let deadline = hosts[index].machine?.nextTimeout {
      setWakeTime(of: index, to: max(deadline, now))
    }
  }

  /// Lets the host be woken at this time, unless it is before.
  private func setWakeTime(of index: Int, to time: Instant) {
    guard time < hosts[index].wakeTime else { return }
    hosts[index].wakeTime = time
    schedule(.wake(host: index), at: time)
  }

  func wake(host index: Int) {
    // It was told to be woken earlier since.
    guard hosts[index].wakeTime <= now else { return }
    hosts[index].wakeTime = .distantFuture
    guard let deadline = hosts[index].machine?.nextTimeout else { return }
    if deadline <= now {
      touch(index) { $0.handleTimeout(at: now) }
    } else {
      setWakeTime(of: index, to: deadline)
    }
  }

  private func send(_ request: FleetHost.Request, from index: Int) {
    // A broken network may deliver late what it has, after the next connection was opened.
    if hosts[index].isCut, generator.chance(0.5) { return }
    let delay =
      hosts[index].isCut
      ? generator.duration(in: .milliseconds(500)...Duration.seconds(8))
      : generator.duration(in: .microseconds(100)...Duration.milliseconds(5))
    hosts[index].lastCommand = max(hosts[index].lastCommand, now + delay)
    let time = hosts[index].isCut ? now + delay : hosts[index].lastCommand
    schedule(
      .command(request.command, host: index, connection: request.connection), at: time)
  }

  func deliver(_ command: DirectoryCommand, from index: Int, on connection: UInt64) {
    guard case .host(_, let sender) = command else { return }
    let answer = carryOut(command)
    guard !hosts[index].isCut else { return }
    let delay =
      directoryDelay + generator.duration(in: .microseconds(100)...Duration.milliseconds(5))
    hosts[index].lastAnswer = max(hosts[index].lastAnswer, now + delay)
    schedule(
      .answer(answer, host: index, run: sender.run, connection: connection),
      at: hosts[index].lastAnswer)
  }

  private func handle(_ event: FleetHost.Event, at index: Int) {
    switch event {
    case .registered, .leaseEnded, .refused: break
    case .assigned(let claim, let checkpoint, _):
      noteStart(of: claim, checkpoint)
      let end = now + generator.duration(in: settings.matchLength)
      hosts[index].games[claim.match] = FleetWorldGame(tick: checkpoint?.tick ?? 0, end: end)
      if hosts[index].machine?.isDraining == true { move(claim.match, from: index) }
    case .lost(let claim, let placement): stop(claim.match, at: index, movedTo: placement?.claim)
    case .unclaimed(let claim): hosts[index].games[claim.match] = nil
    case .notMoved: break  // It is tried again with the next pulse.
    case .finished(let claim):
      hosts[index].games[claim.match] = nil
      for player in players(of: claim.match, at: index) { players[player].state = .ended }
    case .noSeat(_, let id):
      if let player = playerIndex(id), players[player].host == index {
        players[player].state = .ended
      }
    case .drainRequested:
      for match in hosts[index].games.keys.sorted() { move(match, from: index) }
    case .gaveUp, .withdrawn:
      hosts[index].machine = nil
      hosts[index].games = [:]
      schedule(.interference(.restart), after: .seconds(1))
    }
  }

  private func stop(_ match: MatchID, at index: Int, movedTo claim: MatchClaim?) {
    hosts[index].games[match] = nil
    guard let claim else { return }
    for player in players(of: match, at: index) {
      schedule(.join(player: player, claim), within: .milliseconds(10)...Duration.milliseconds(300))
    }
  }

  private func move(_ match: MatchID, from index: Int) {
    let checkpoint = hosts[index].games[match].flatMap { Checkpoint(tick: $0.tick, state: []) }
    touch(index) { $0.move(match, checkpoint, at: now) }
  }

  /// Simulates the matches of a host for half a second.
  func pulse(_ index: Int) {
    // In their order, so that a seed makes the same run each time.
    guard let matches = hosts[index].machine?.matches.keys.sorted() else { return }
    schedule(.pulse(host: index), after: .milliseconds(500))
    let isDraining = hosts[index].machine?.isDraining == true
    for match in matches {
      guard let known = hosts[index].machine?.matches[match] else { continue }
      if known.ending == nil { simulate(known, at: index, isDraining: isDraining) }
      hear(known, at: index)
    }
    if isDraining, hosts[index].machine?.matches.isEmpty == true {
      touch(index) { $0.withdraw(at: now) }
    }
  }

  private func simulate(_ known: HostedClaim, at index: Int, isDraining: Bool) {
    let match = known.claim.match
    hosts[index].games[match]?.tick += 30
    guard let game = hosts[index].games[match] else { return }
    if now >= game.end, now < endOfInterference, known.isConfirmed {
      touch(index) { $0.finish(match, result: [UInt8(truncatingIfNeeded: game.tick)], at: now) }
    } else if isDraining {
      move(match, from: index)
    } else {
      let isUrgent = generator.chance(0.05)
      let checkpoint = Checkpoint(tick: game.tick, state: [1, 2, 3])!
      touch(index) { $0.save(checkpoint, of: match, isUrgent: isUrgent, at: now) }
    }
  }
}
