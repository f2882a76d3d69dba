extension SessionRun {
  private static let machine = "Carom, the machine alone"
  private static let sockets = "Carom, over sockets"
  private static let player = "Carom, a player's round trips"

  mutating func measureFlood() async {
    for round in 1...command.rounds {
      measurements.add(SessionFlood.measureMachine(), of: .flood, Self.machine, at: 0)
      do {
        for kind in SessionUnvalidatedSenders.Kind.allCases {
          let figures = try await SessionFlood.measureStand(kind)
          measurements.add(figures, of: .flood, "\(Self.sockets), \(kind.rawValue)", at: 0)
        }
        for rate in [0, SessionFlood.rate] {
          let figures = try await SessionFlood.measurePlayer(floodRate: rate)
          measurements.add(figures, of: .flood, Self.player, at: Double(rate))
        }
      } catch {
        report.remarks.append("flood, round \(round): \(error)")
      }
    }
  }

  mutating func addFlood(_ measurement: SessionMeasurement, _ name: String) {
    func rate(_ figure: String, _ heading: String) -> Report.Figure {
      .init(figure, (1e6 / measurement.middle(figure)).rounded(), "k/s", heading: heading)
    }
    switch measurement.subject {
    case Self.machine:
      report.add(
        name, title: "flood: Carom, without sockets", rate("bad", "invalid datagrams"),
        rate("hello", "hellos"),
        rate("forged", "forged cookies"),
        .init(
          "the dearest bad one", measurement.middle("bad_worst"), "ns",
          heading: "slowest invalid datagram"),
        .init("a seat", measurement.middle("accept") / 1e3, "us", heading: "admission"),
        .init(
          "the last of 4096", measurement.middle("accept_late") / 1e3, "us",
          heading: "admission when almost full"),
        .init("held", measurement.middle("held"), "B", heading: "memory held"))
      report.add(
        "\(name), encrypted", title: "flood: Carom, encrypted, without sockets",
        rate("bad_encrypted", "invalid datagrams"), rate("hello_encrypted", "hellos"),
        rate("forged_encrypted", "forged cookies"),
        .init("XX", measurement.middle("accept_XX") / 1e3, "us", heading: "a seat with XX"),
        .init("IK", measurement.middle("accept_IK") / 1e3, "us", heading: "a seat with IK"),
        .init(
          "code", measurement.middle("accept_code") / 1e3, "us", heading: "a seat with a code"),
        .init(
          "token", measurement.middle("accept_token") / 1e3, "us", heading: "a seat with a token"))
    case Self.player:
      report.beginTable()
      report.add(
        name, .init("flood", measurement.condition / 1e3, "k/s"),
        .init("p50", measurement.middle("echo_p50"), "us"),
        .init("p99", measurement.middle("echo_p99"), "us"),
        .init("max", measurement.middle("echo_max"), "us"),
        .init("samples", measurement.middle("echo_count")))
    default:
      report.beginTable()
      report.add(
        name,
        .init("taken", (measurement.middle("taken") / 1e3).rounded(), "k/s", heading: "received"),
        .init("CPU", measurement.middle("cpu"), "ns/datagram"),
        .init(
          "a core takes", (1e6 / measurement.middle("cpu")).rounded(), "k/s",
          heading: "capacity of a core"),
        .init("busy", measurement.middle("busy") * 100, "%"),
        .init("answered", measurement.middle("answered") / 1e3, "kB/s"),
        .init("memory grew", measurement.middle("grown"), "B"))
    }
  }

  func floodGoals() -> [BenchmarkGoal] {
    guard let machine = measurements[.flood, Self.machine, 0] else { return [] }
    func capacity(_ kind: String) -> Double {
      1e6 / (measurements[.flood, "\(Self.sockets), \(kind)", 0]?.middle("cpu") ?? .nan)
    }
    func p99(_ rate: Int) -> Double {
      measurements[.flood, Self.player, Double(rate)]?.middle("echo_p99") ?? .nan
    }
    let accept = machine.middle("accept")
    return [
      .init(
        "flood: invalid datagrams that a core discards, no sockets", 1e6 / machine.middle("bad"),
        "k/s", .atLeast, 300),
      .init(
        "flood: invalid datagrams that a core discards, sockets", capacity("bad"), "k/s", .atLeast,
        300),
      .init(
        "flood: hellos that a core answers, no sockets", 1e6 / machine.middle("hello"), "k/s",
        .atLeast, 150),
      .init("flood: hellos that a core answers, sockets", capacity("hello"), "k/s", .atLeast, 150),
      .init(
        "flood: added to a player's p99 by 100 k/s of hellos",
        (p99(SessionFlood.rate) - p99(0)) / 1e3, "ms", .atMost, 2),
      .init(
        "flood: memory held for unvalidated addresses", machine.middle("held"), "B", .atMost, 0),
      .init("admission of a client (plaintext)", accept / 1e3, "us", .atMost, 150),
      .init("clients that a core admits (plaintext)", 1e6 / accept, "k/s", .atLeast, 6),
      .init(
        "flood: invalid datagrams that a core discards, encrypted",
        1e6 / machine.middle("bad_encrypted"), "k/s", .atLeast, 300),
      .init(
        "flood: hellos that a core answers, encrypted", 1e6 / machine.middle("hello_encrypted"),
        "k/s", .atLeast, 150),
      .init(
        "clients that a core admits with XX", 1e6 / machine.middle("accept_XX"), "k/s", .atLeast,
        6),
    ]
      + SessionSeat.allCases.filter { $0 != .plaintext }.map { seat in
        .init(
          "admission of a client, \(seat.rawValue)",
          machine.middle("accept_\(seat.rawValue)") / 1e3, "us", .atMost, seat.goal)
      }
  }
}
