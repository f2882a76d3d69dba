import CaromCore
import CaromCrypto
import CaromPlacement
import CaromProtocol
import CaromSession
import CaromTransport

/// What a host of a fleet knows of doors, and the questions that it is answering.
struct FleetDoors {
  /// The maximum number of questions without an answer.
  static let questionLimit = 256

  /// The doors that the host's players know.
  var known: [RoutedEndpoint] = []
  /// When all players must have new door tokens.
  var renewal: Instant?
  var timer: LoopTimer?
  /// The players who have asked, and have no answer yet.
  var asking: Set<PeerID> = []
}

extension FleetMatches {
  // MARK: The doors of the players

  /// Asks which doors there are, now and again and again, and tells the players. While this host is
  /// the only one that it knows, it asks more often: if it dies, nobody can help its players.
  func findDoors() {
    if doors.timer == nil { doors.timer = LoopTimer(on: loop, owner: self) { $0.findDoors() } }
    let isAlone = Set(doors.known).isSubset(of: membership.record.doors)
    doors.timer?.arm(
      at: loop.now
        + (isAlone ? PlacementRules.firstDoorsInterval : PlacementRules.doorsInterval))
    Task { [weak self, membership] in
      // While the directory is away, the players keep the doors that they know.
      guard let doors = try? await membership.findDoors() else { return }
      await self?.set(doors)
    }
  }

  private func set(_ known: [RoutedEndpoint]) {
    let now = loop.now
    guard known != doors.known || doors.renewal.map({ $0 <= now }) ?? true else { return }
    doors.known = known
    doors.renewal = now + PlacementRules.doorTokenInterval
    for peer in players.keys { tellDoors(to: peer) }
  }

  func tellDoors(to peer: Peer) {
    guard !doors.known.isEmpty, let claim = FleetGate.claim(of: peer.info),
      let token = try? DoorToken(
        for: peer.id, with: claim, doors: doors.known, key: key,
        at: UnixTime(milliseconds: WallClock.milliseconds), using: &generator)
    else { return }
    // A player who has no room for it now gets the next one soon.
    if !peer.post(token, on: .doorTokens) { doors.renewal = loop.now }
  }

  // MARK: This door

  /// Answers a player whose door token the session has accepted. A player has one question at a
  /// time.
  func take(_ question: PlayerQuestion) {
    let player = question.player.id
    guard let claim = FleetGate.claim(of: question.player),
      doors.asking.count < FleetDoors.questionLimit, !doors.asking.contains(player)
    else { return question.answer(Goodbye(.busy)) }
    doors.asking.insert(player)
    Task { [weak self, membership, key] in
      let answer = try? await membership.answer(player, in: claim.match, key: key)
      await self?.answer(question, answer)
    }
  }

  private func answer(_ question: PlayerQuestion, _ answer: HostFailover.DoorAnswer?) {
    doors.asking.remove(question.player.id)
    question.answer(answer?.goodbye ?? Goodbye(.busy))
  }
}
