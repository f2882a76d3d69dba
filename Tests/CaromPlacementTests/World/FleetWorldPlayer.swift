import CaromCore

@testable import CaromPlacement

/// A player of a match.
struct FleetWorldPlayer {
  enum State {
    /// On the way to a host, or looking for it.
    case away
    case playing
    /// The match is over for the player.
    case ended
  }

  let id: PeerID
  let match: MatchID
  var state = State.away
  /// The host and the claim by which the player has joined last.
  var host: Int?
  var claim: MatchClaim?
  /// Whether a door has said that the match is there, and the player has not heard from it since.
  var wasToldToStay = false
  var machine: HostFailover?
  /// When the player's timer fires next.
  var timer = Instant.distantFuture
}

extension FleetWorld {
  func playerIndex(_ id: PeerID) -> Int? {
    players.indices.contains(Int(id.low)) ? Int(id.low) : nil
  }

  /// The players of a match who are at a host.
  func players(of match: MatchID, at host: Int) -> [Int] {
    (playersOfMatch[match] ?? []).filter { players[$0].host == host && isPlaying($0) }
  }

  private func isPlaying(_ player: Int) -> Bool {
    if case .playing = players[player].state { true } else { false }
  }

  /// Asks for a host for a match of two players, and again until there is one.
  func placeMatch(_ match: Int) {
    let id = MatchID.match(match)
    if playersOfMatch[id] == nil {
      playersOfMatch[id] = [players.count, players.count + 1]
      for _ in 0..<2 { players.append(FleetWorldPlayer(id: .player(players.count), match: id)) }
    }
    let indices = playersOfMatch[id] ?? []
    let regions = generator.chance(0.5) ? ["r\(match % 3)"] : []
    let request = PlacementRequest(
      id, players: indices.map { players[$0].id }, game: .hockey, near: regions)
    switch carryOut(.place(request)) {
    case .placed(let placement):
      for player in indices { sendToken(placement.claim, to: player) }
    case .refused: schedule(.placeMatch(match), after: .seconds(2))
    default: report("an odd answer to a request for a host")
    }
  }

  /// Gives a player the token. Most players join soon, some late, and some never.
  private func sendToken(_ claim: MatchClaim, to player: Int) {
    let first = Int.random(in: doors.indices, using: &generator)
    players[player].machine = HostFailover(doors: doors, startingWith: first, at: now)
    if generator.chance(0.05) {
      players[player].state = .ended
    } else {
      let longest = Duration.milliseconds(generator.chance(0.1) ? 11_000 : 500)
      schedule(.join(player: player, claim), within: .milliseconds(20)...longest)
    }
  }

  func join(_ player: Int, _ claim: MatchClaim) {
    if case .ended = players[player].state { return }
    guard let index = hostIndices[claim.host], hosts[index].machine != nil else {
      return follow(player)
    }
    var admission = FleetHost.Admission.tryAgain
    touch(index) { admission = $0.admit(players[player].id, with: claim, at: now) }
    if admission == .accepted {
      players[player].state = .playing
      players[player].host = index
      players[player].claim = claim
      players[player].wasToldToStay = false
      players[player].machine?.heard(at: now)
    }
    follow(player)
  }

  /// Carries out what a player's machine wants.
  private func follow(_ player: Int) {
    while let action = players[player].machine?.pollAction() {
      switch action {
      case .ask(let endpoint):
        let door = doors.firstIndex(of: endpoint) ?? 0
        schedule(
          .doorQuestion(player: player, door: door),
          within: .milliseconds(5)...Duration.milliseconds(80))
      case .join(let token):
        guard let claim = try? MatchClaim(decoding: token.span) else {
          report("a door gave something else than a claim")
          return
        }
        schedule(
          .join(player: player, claim), within: .milliseconds(10)...Duration.milliseconds(300))
      case .end: players[player].state = .ended
      case .giveUp:
        players[player].state = .ended
        // A match that nobody joins in time is forgotten.
        if begun.contains(players[player].match) { stranded += 1 }
      }
    }
    if case .ended = players[player].state { return }
    if let deadline = players[player].machine?.nextTimeout {
      setTimer(of: player, to: max(deadline, now))
    }
  }

  /// Lets the player's timer fire at this time, unless it does before.
  private func setTimer(of player: Int, to time: Instant) {
    guard time < players[player].timer else { return }
    players[player].timer = time
    schedule(.playerTimer(player), at: time)
  }

  func wake(player: Int) {
    // The timer was set to an earlier time since.
    guard players[player].timer <= now else { return }
    players[player].timer = .distantFuture
    guard let deadline = players[player].machine?.nextTimeout else { return }
    if deadline <= now {
      players[player].machine?.handleTimeout(at: now)
      follow(player)
    } else {
      setTimer(of: player, to: deadline)
    }
  }

  /// A host that is asked where a match is asks the directory in its turn.
  func askDoor(_ door: Int, for player: Int) {
    guard hosts[door].machine != nil, !hosts[door].isCut else { return }
    let answer = carryOut(.locate(players[player].match, player: players[player].id))
    let reply: HostFailover.DoorAnswer
    switch answer {
    case .placed(let placement):
      // After a second such answer, the player joins the host again: its process may be a new one.
      let stays = placement.claim == players[player].claim && !players[player].wasToldToStay
      players[player].wasToldToStay = stays
      reply = stays ? .stay : .moved(token: placement.claim.encoded)
    case .over(let result): reply = .over(result: result)
    case .refused(let refusal): reply = .refused(refusal)
    default: return report("an odd answer to a player")
    }
    let delay =
      directoryDelay + generator.duration(in: .milliseconds(5)...Duration.milliseconds(80))
    schedule(.doorAnswer(player: player, reply), after: delay)
  }

  func tell(_ player: Int, _ answer: HostFailover.DoorAnswer) {
    players[player].machine?.handle(answer, at: now)
    follow(player)
  }

  /// Everybody who plays in a match at a host hears from it.
  func hear(_ match: HostedClaim, at host: Int) {
    for id in match.players {
      guard let player = playerIndex(id), players[player].host == host, isPlaying(player)
      else { continue }
      players[player].wasToldToStay = false
      players[player].machine?.heard(at: now)
      follow(player)
    }
  }
}
