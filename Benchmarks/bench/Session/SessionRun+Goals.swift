import Carom

extension SessionRun {
  /// The subject that has goals: Carom over datagrams.
  static let ours = SessionSubject.carom(.datagrams).name

  /// Adds the goals of every scenario that this run has measured.
  mutating func addGoals() {
    var goals: [BenchmarkGoal] = []
    goals += countGoals() + hostileGoals()
    goals += gameGoals() + loopGoals() + echoGoals() + coalescedGoals()
    goals += floodGoals() + crowdGoals() + fairGoals()
    goals += bulkGoals() + smallGoals() + mixedGoals() + migrationGoals()
    if !goals.isEmpty { report.sessionGoals = goals }
  }

  func ours(
    _ scenario: SessionCommand.Scenario, _ condition: Double = 0, _ name: String = ours
  ) -> SessionMeasurement? {
    measurements[scenario, name, condition]
  }

  /// Returns the given figure of every other implementation in a scenario and condition.
  func peers(
    _ scenario: SessionCommand.Scenario, _ condition: Double,
    _ figure: (SessionMeasurement) -> Double
  ) -> [(name: String, figure: Double)] {
    measurements.of(scenario)
      .filter { measurement in
        measurement.condition == condition && !measurement.subject.hasPrefix("Carom")
          && !measurement.subject.hasPrefix("plain")
      }
      .map { ($0.subject, figure($0)) }
  }

  /// Returns the goals of the exact counts. ENet's figures follow from its protocol: 4 bytes for a
  /// datagram, and a command for each message.
  private func countGoals() -> [BenchmarkGoal] {
    guard let counts else { return [] }
    func beside(_ bytes: Double) -> [(name: String, figure: Double)] { [("ENet", bytes)] }
    return [
      .init("one unreliable message", counts.unreliable, "B", .atMost, 6, beside: beside(10)),
      .init("one reliable message", counts.reliable, "B", .atMost, 8, beside: beside(10)),
      .init(
        "each further unreliable message", counts.nextUnreliable, "B", .atMost, 2, beside: beside(8)
      ),
      .init(
        "each further reliable message", counts.nextReliable, "B", .atMost, 2, beside: beside(6)),
      .init(
        "an acknowledgement in a data packet", counts.acknowledgement, "B", .atMost, 3,
        beside: beside(8)),
      .init("bytes answered by bytes received, hello", counts.answerToHello, "", .atMost, 0.3),
      .init("bytes answered by bytes received, data", counts.answerToData, "", .atMost, 0.3),
      .init(
        "bytes answered by bytes received, forged cookie", counts.answerToForged, "", .atMost, 0.3),
      .init("allocations a datagram", counts.allocations, "", .atMost, 0),
      .init("memory of an idle peer, no sockets", counts.heldForIdlePeer / 1e3, "kB", .atMost, 3),
      .init(
        "a black hole: time until packets have 1,200 B", counts.blackHole.milliseconds, "ms",
        .atMost, 600),
      .init("a black hole: the same in time-outs", counts.blackHole.timeouts, "", .atMost, 3),
      .init("a black hole: goodput afterwards", counts.blackHole.goodput, "Mbit/s", .atLeast, 15),
      .init(
        "CPU to send and receive a datagram, no sockets", counts.nanoseconds, "ns", .atMost, 900),
    ] + encryptedGoals(counts.encrypted, above: counts.nanoseconds)
  }

  /// Returns the goals of an encrypted session. A peer-tick of the game takes a datagram in each
  /// direction, and each is encrypted once and decrypted once.
  private func encryptedGoals(
    _ counts: SessionEncryptedCounts, above plain: Double
  ) -> [BenchmarkGoal] {
    [
      .init("encrypted: one unreliable message", counts.unreliable, "B", .atMost, 22),
      .init("encrypted: one reliable message", counts.reliable, "B", .atMost, 24),
      .init("encrypted: each further message", counts.nextUnreliable, "B", .atMost, 2),
      .init("encrypted: an acknowledgement", counts.acknowledgement, "B", .atMost, 3),
      .init("encrypted: allocations a datagram", counts.allocations, "", .atMost, 0),
      .init(
        "encrypted: memory of an idle peer", counts.heldForIdlePeer / 1e3, "kB", .atMost, 12),
      .init(
        "encrypted: CPU of a datagram above plaintext, both sides", counts.nanoseconds - plain,
        "ns", .atMost, 700),
    ]
      + counts.forged.map { cipher, nanoseconds in
        .init(
          "encrypted: a forged packet from a player's address, \(cipher.name)", nanoseconds / 1e3,
          "us", .atMost, 1.5)
      }
  }

  /// Goals for the packets of an unvalidated sender, and of a connected but hostile peer.
  private func hostileGoals() -> [BenchmarkGoal] {
    guard counts != nil else { return [] }
    let senders = SessionUnvalidatedSenders.Kind.allCases.flatMap {
      SessionUnvalidatedSenders.datagrams($0)
    }
    .map { SessionUnvalidatedSenders.nanoseconds(of: [$0], count: 20_000) }
    func goal(_ whose: String, _ nanoseconds: Double?) -> BenchmarkGoal {
      .init("the slowest packet of \(whose)", (nanoseconds ?? .nan) / 1e3, "us", .atMost, 5)
    }
    return [
      goal("an unvalidated sender", senders.max()),
      goal("a hostile peer, median", hostile.map(\.middle).max()),
      goal("a hostile peer, p99", hostile.map(\.most).max()),
      goal("a hostile peer, while its tables grow", hostile.map(\.worst).max()),
    ]
  }

  private func echoGoals() -> [BenchmarkGoal] {
    guard let floor = measurements[.echo, SessionSubject.udp.name, 0] else { return [] }
    return ["unreliable", "reliable"].flatMap { mode -> [BenchmarkGoal] in
      guard let echo = ours(.echo, 0, "\(Self.ours), \(mode)") else { return [] }
      return [("echo_p50", "p50", 5.0), ("echo_p99", "p99", 20)].map { figure, name, limit in
        func over(_ measurement: SessionMeasurement) -> Double {
          measurement.middle(figure) - floor.middle(figure)
        }
        return BenchmarkGoal(
          "round trip, minus plain UDP's, \(mode), \(name)", over(echo), "us", .atMost, limit,
          beside: peers(.echo, 0, over).filter { $0.name.hasSuffix(", \(mode)") })
      }
    }
  }

  private func coalescedGoals() -> [BenchmarkGoal] {
    guard let burst = ours(.coalesced) else { return [] }
    return [
      .init(
        "CPU of each of many small messages", burst.middle("cpu"), "ns", .atMost, 300,
        beside: peers(.coalesced, 0) { $0.middle("cpu") }),
      .init(
        "small messages offered", burst.middle("rate") / 1e6, "M/s", .atLeast, 2,
        beside: peers(.coalesced, 0) { $0.middle("rate") / 1e6 }),
    ]
  }

  private func bulkGoals() -> [BenchmarkGoal] {
    let limits = [(0.0, 18.5, 1.06), (0.01, 18, 1.07), (0.05, 17, 1.12), (0.1, 15.5, 1.2)]
    var goals: [BenchmarkGoal] = []
    if let bulk = ours(.bulk, 0) {
      goals += [
        .init("the longest packet", bulk.middle("out_largest"), "B", .atLeast, 1_500),
        .init(
          "time until the longest packet was found", bulk.middle("out_largest_after") / 1e3, "s",
          .atMost, 5),
      ]
    }
    return goals
      + limits.flatMap { loss, goodput, wire -> [BenchmarkGoal] in
        guard let bulk = ours(.bulk, loss) else { return [] }
        let at = "at \(Int(loss * 100)) % loss"
        return [
          .init(
            "goodput \(at)", bulk.middle("goodput"), "Mbit/s", .atLeast, goodput,
            beside: peers(.bulk, loss) { $0.middle("goodput") }),
          .init(
            "wire by payload \(at)", bulk.middle("wire"), "", .atMost, wire,
            beside: peers(.bulk, loss) { $0.middle("wire") }),
        ]
      }
  }

  private func smallGoals() -> [BenchmarkGoal] {
    let limits = [(0.0, 51.0), (0.01, 70), (0.05, 90), (0.1, 120)]
    var goals = limits.compactMap { loss, limit -> BenchmarkGoal? in
      ours(.small, loss).map { small in
        BenchmarkGoal(
          "small reliable messages at \(Int(loss * 100)) % loss, p99",
          small.middle("small_p99") / 1e3,
          "ms", .atMost, limit, beside: peers(.small, loss) { $0.middle("small_p99") / 1e3 })
      }
    }
    guard let clean = ours(.small, 0) else { return goals }
    goals.append(
      .init(
        "connecting, round trips", clean.middle("connect") / 100e3, "", .atMost, 2.1,
        beside: peers(.small, 0) { $0.middle("connect") / 100e3 }))
    goals += limits.dropFirst().compactMap { loss, _ in
      ours(.small, loss).map { small in
        BenchmarkGoal(
          "small messages: wire at \(Int(loss * 100)) % by wire at 0 %",
          small.middle("wire") / clean.middle("wire"), "", .atMost, 2.2)
      }
    }
    return goals
  }

  private func migrationGoals() -> [BenchmarkGoal] {
    guard let moved = ours(.migration) else { return [] }
    let missing = Double(60 * (SessionLossy.warm + command.seconds)) - moved.middle("smalls")
    return [
      .init(
        "silence after a change of address", moved.middle("gap") / 1e3, "ms", .atMost, 167,
        beside: peers(.migration, 0) { $0.middle("gap") / 1e3 }),
      .init("messages lost by the change", missing, "", .atMost, 0),
      .init("messages duplicated or out of order", moved.middle("disordered"), "", .atMost, 0),
    ]
  }

  private func mixedGoals() -> [BenchmarkGoal] {
    guard let mixed = ours(.mixed, 0) else { return [] }
    func beside(_ figure: String, _ scale: Double = 1) -> [(name: String, figure: Double)] {
      peers(.mixed, 0) { $0.middle(figure) / scale }
    }
    return [
      .init(
        "overload: goodput", mixed.middle("goodput"), "Mbit/s", .atLeast, 18,
        beside: beside("goodput")),
      .init(
        "overload: wire by payload", mixed.middle("wire"), "", .atMost, 1.1,
        beside: beside("wire")),
      .init(
        "overload: queue, p50", mixed.middle("out_wait_p50"), "ms", .atMost, 50,
        beside: beside("out_wait_p50")),
      .init(
        "overload: small messages, p99", mixed.middle("small_p99") / 1e3, "ms",
        .atMost, 90, beside: beside("small_p99", 1e3)),
    ]
  }
}
