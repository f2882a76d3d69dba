import Carom

extension SessionRun {
  func gameGoals() -> [BenchmarkGoal] {
    let sizes = command.peers.filter { ours(.game, Double($0)) != nil }
    func cost(_ measurement: SessionMeasurement) -> Double { measurement.middle("cpu") / 1e3 }
    var goals: [BenchmarkGoal] = []
    for size in sizes.map(Double.init) {
      guard let game = ours(.game, size) else { continue }
      let peers = peers(.game, size, cost)
      goals += [
        .init(
          "CPU a peer-tick, \(Int(size)) players", cost(game), "us", .atMost, 2.6, beside: peers),
        .init(
          "its user time, \(Int(size)) players", game.middle("user") / 1e3, "us", .atMost, 2),
      ]
      goals += ratioGoals(players: size, cost) + cipherGoals(players: size, game, cost)
    }
    guard let first = sizes.first, let last = sizes.last,
      let small = ours(.game, Double(first)), let large = ours(.game, Double(last))
    else { return goals }
    if first != last {
      goals.append(
        .init(
          "CPU a peer-tick, \(last) by \(first) players", cost(large) / cost(small), "", .atMost,
          1.15,
          beside: zip(peers(.game, Double(last), cost), peers(.game, Double(first), cost)).map {
            ($0.name, $0.figure / $1.figure)
          }))
    }
    let share = large.condition == 0 ? .nan : cost(large) * 60 * 1_000 / 1e6 * 100
    goals += [
      .init("a core's share for 1000 players at 60 Hz", share, "%", .atMost, 25),
      .init(
        "datagrams a core", 2e3 / cost(large), "k/s", .atLeast, 450,
        beside: peers(.game, Double(last)) { 2e3 / cost($0) }),
      .init(
        "memory of an idle player", large.middle("memory") / 1e3, "kB", .atMost, 12,
        beside: peers(.game, Double(last)) { $0.middle("memory") / 1e3 }),
    ]
    return goals
  }

  /// What each cipher adds to the user time of a game in plaintext, and the whole cost of an
  /// encrypted game, divided by that of ENet's in plaintext.
  private func cipherGoals(
    players: Double, _ plain: SessionMeasurement, _ cost: (SessionMeasurement) -> Double
  ) -> [BenchmarkGoal] {
    let limits: [(Cipher, Double)] = [(.aesGCM, 0.7), (.chaChaPoly, 1.1)]
    return limits.flatMap { cipher, limit -> [BenchmarkGoal] in
      guard let game = ours(.game, players, SessionSubject.carom(cipher).name) else { return [] }
      let added = BenchmarkGoal(
        "user time a peer-tick that \(cipher.name) adds, \(Int(players)) players",
        (game.middle("user") - plain.middle("user")) / 1e3, "us", .atMost, limit)
      guard let enet = measurements[.game, "ENet", players] else { return [added] }
      return [
        added,
        .init(
          "CPU a peer-tick with \(cipher.name), by ENet's without, \(Int(players)) players",
          cost(game) / cost(enet), "", .atMost, 1),
      ]
    }
  }

  /// The costs of Carom's two kinds of links, divided by those of their closest relatives.
  private func ratioGoals(
    players: Double, _ cost: (SessionMeasurement) -> Double
  ) -> [BenchmarkGoal] {
    func goal(
      _ link: SessionCarom.Link, _ other: String, _ limit: Double
    ) -> BenchmarkGoal? {
      guard let ours = ours(.game, players, SessionSubject.carom(link).name),
        let theirs = measurements[.game, other, players]
      else { return nil }
      return .init(
        "CPU a peer-tick over \(link.protocolName), by \(other)'s, \(Int(players)) players",
        cost(ours) / cost(theirs), "", .atMost, limit)
    }
    return [
      goal(.datagrams, "ENet", 0.8), goal(.stream, SessionSubject.plainTCP.name, 1.25),
    ].compactMap(\.self)
  }

  func crowdGoals() -> [BenchmarkGoal] {
    let size = Double(SessionLoopback.crowd)
    guard let crowd = ours(.crowd, size) else { return [] }
    let rate = size * Double(SessionLoopback.crowdHertz)
    func share(_ measurement: SessionMeasurement) -> Double {
      measurement.middle("cpu") * rate / 1e7
    }
    return [
      .init(
        "a core's share for 4096 players at 20 Hz", share(crowd), "%", .atMost, 40,
        beside: measurements[.crowd, SessionSubject.udp.name, size].map {
          [(SessionSubject.udp.name, share($0))]
        } ?? []),
      .init(
        "memory of each of 4096 idle players", crowd.middle("memory") / 1e3, "kB", .atMost, 12),
    ]
  }

  /// How many times the players of one loop the loops of a measurement could hold.
  func loopCapacity(_ measurement: SessionMeasurement) -> Double {
    let alone = measurements[.loops, measurement.subject, 1]?.middle("busiest") ?? .nan
    return alone / measurement.middle("busiest")
  }

  func loopGoals() -> [BenchmarkGoal] {
    let (half, whole) = (SessionLoops.all[0], SessionLoops.all[2])
    guard let one = measurements[.loops, half.name, Double(half.loops)],
      let two = measurements[.loops, whole.name, Double(whole.loops)]
    else { return [] }
    return [
      .init("the players of two loops, by those of one", loopCapacity(two), "", .atLeast, 1.9),
      .init(
        "CPU a peer-tick on two loops, by one with half of the players",
        two.middle("cpu") / one.middle("cpu"), "", .atMost, 1.05),
      .init(
        "the busiest of two loops, by their mean", 2 * two.middle("busiest") / two.middle("cpu"),
        "", .atMost, 1.05),
    ]
  }
}
