import Carom
import CaromFleet

/// The players of many matches, in one process.
enum TallyPlayers {
  static func run(
    in fleet: FleetAddress, key: BackendKey, matches: Range<Int>, shots: UInt32,
    every interval: Duration
  ) async {
    await withNetworkLoop { loop in
      await Task(executorPreference: loop) {
        let directory = FleetDirectory(fleet, on: loop)
        await withThrowingTaskGroup(of: Void.self) { group in
          for number in matches {
            guard let match = MatchID("m\(number)") else { continue }
            let players = [PeerID.random(), .random()]
            group.addTask {
              let tokens = try await directory.place(
                match, for: players, of: FleetPeer.game, key: key
              ).get()
              FleetPeer.emit("placed", ["match": "\(match)"])
              await withTaskGroup(of: Void.self) { pair in
                for (player, token) in zip(players, tokens) {
                  pair.addTask {
                    await TallyPlayer.play(
                      match, as: player, with: token, shots: shots, every: interval, on: loop)
                  }
                }
              }
            }
          }
          while let result = await group.nextResult() {
            if case .failure(let error) = result { FleetPeer.emit("error", ["text": "\(error)"]) }
          }
        }
        await directory.close()
      }.value
    }
  }
}

/// A player of a match, who counts each goal and notes what must not be.
struct TallyPlayer {
  private static let hertz = 20
  /// How long nothing may come from a host without being told.
  private static let longestGap = Duration.milliseconds(250)

  private let match: MatchID
  private let shots: UInt32
  private let interval: Duration
  private let loop: NetworkLoop
  private var goals: UInt32 = 0
  /// How many goals each player has shot, by the player's index.
  private var scorers: [UInt8: UInt32] = [:]
  private var repeated = 0
  private var missing = 0
  private var falls = 0
  private var hosts: [String] = []
  private var lastHeard: Instant?

  static func play(
    _ match: MatchID, as id: PeerID, with token: ConnectToken, shots: UInt32,
    every interval: Duration, on loop: NetworkLoop
  ) async {
    var player = TallyPlayer(match: match, shots: shots, interval: interval, loop: loop)
    let me = PeerInfo(id: id, name: "player", application: FleetPeer.application)
    var reason = "over"
    do {
      _ = try await Session.joinMatch(with: token, as: me, loop: loop) { session, host in
        try await player.play(over: session, at: host)
      }
    } catch { reason = "\(error)" }
    FleetPeer.emit(
      "played",
      [
        "match": "\(match)", "player": "\(id)", "goals": player.goals, "reason": reason,
        "repeated": player.repeated, "missing": player.missing, "falls": player.falls,
        "scorers": player.scorers.values.sorted(), "hosts": player.hosts,
      ])
  }

  private init(match: MatchID, shots: UInt32, interval: Duration, loop: NetworkLoop) {
    (self.match, self.shots, self.interval, self.loop) = (match, shots, interval, loop)
  }

  /// Plays at one host until it is gone.
  private mutating func play(over session: Session, at host: Peer) async throws -> Bool? {
    hosts.append(host.name)
    try await host.send(PlayerMessage(.hello, goals), on: .player)
    var shot: UInt32?
    var isDone = false
    var nextShot = loop.now
    for await _ in FixedStep(hertz: Self.hertz, on: loop) {
      let messages = session.takeMessages(on: .host)
      let pulses = session.takeMessages(on: .pulse)
      guard await session.peers.contains(host) else { break }
      if !messages.isEmpty || !pulses.isEmpty { hear() }
      for pulse in pulses where pulse.message.goals < goals && shot != nil { falls += 1 }
      for message in messages {
        switch message.message {
        case .welcome(let goals, let shots):
          if goals < self.goals { falls += 1 }
          if shot == nil, hosts.count == 1 { FleetPeer.emit("joined", ["match": "\(match)"]) }
          shot = shots
        case .goal(let number, let scorer): count(number, by: scorer)
        }
      }
      guard let last = shot else { continue }
      if last < shots, nextShot <= loop.now {
        try await host.send(PlayerMessage(.shot, last + 1), on: .player)
        shot = last + 1
        nextShot = loop.now + interval
      }
      if goals == 2 * shots, !isDone {
        try await host.send(PlayerMessage(.done, goals), on: .player)
        isDone = true
      }
    }
    return nil
  }

  private mutating func hear() {
    let now = loop.now
    if let lastHeard, lastHeard.duration(to: now) > Self.longestGap {
      let gap = Int(lastHeard.duration(to: now) / .milliseconds(1))
      FleetPeer.emit("gap", ["match": "\(match)", "gap": gap])
    }
    lastHeard = now
  }

  private mutating func count(_ goal: UInt32, by scorer: UInt8) {
    if goal <= goals {
      repeated += 1
    } else {
      missing += Int(goal - goals) - 1
      goals = goal
      scorers[scorer, default: 0] += 1
    }
  }
}
