extension SessionRun {
  /// Adds a row for each measurement of a scenario, in readable units.
  mutating func addTable(of scenario: SessionCommand.Scenario) {
    for measurement in measurements.of(scenario) {
      let name = "\(scenario.rawValue): \(measurement.subject)"
      switch scenario {
      case .counts: break
      case .costs: addCosts(measurement, name)
      case .echo: add(measurement, name, ["echo_p50", "echo_p90", "echo_p99", "echo_max"], "us")
      case .game: addGame(measurement, name)
      case .coalesced: addCoalesced(measurement, name)
      case .loops: addLoops(measurement, name)
      case .flood: addFlood(measurement, name)
      case .crowd: addCrowd(measurement, name)
      case .bulk: addBulk(measurement, name)
      case .small: addAges(measurement, name, "small")
      case .states: addAges(measurement, name, "age")
      case .mixed: addMixed(measurement, name)
      case .migration: addMigration(measurement, name)
      case .fair: addFair(measurement, name)
      }
    }
  }

  private mutating func add(
    _ measurement: SessionMeasurement, _ name: String, _ figures: [String], _ unit: String
  ) {
    report.rows.append(
      Report.Row(
        name: name,
        figures: figures.map { figure in
          let heading = figure.split(separator: "_").last.map(String.init) ?? figure
          return .init(heading, measurement.middle(figure), unit)
        }))
  }

  private mutating func addCosts(_ measurement: SessionMeasurement, _ name: String) {
    report.add(
      name, .init("send", measurement.middle("send"), "ns"),
      .init("receive", measurement.middle("receive"), "ns"),
      .init("send, 64 a call", measurement.middle("send_batch"), "ns"),
      .init("receive, 64 a call", measurement.middle("receive_batch"), "ns"),
      .init("send, segmented", measurement.middle("send_segments"), "ns"))
  }

  private mutating func addGame(_ measurement: SessionMeasurement, _ name: String) {
    let cpu = measurement.middle("cpu")
    let expected = measurement.condition * Double(SessionLoopback.ticks)
    let datagrams = measurement.middle("datagrams")
    report.add(
      name, .init("players", measurement.condition),
      .init("CPU", cpu / 1e3, "us/peer-tick"),
      .init("user", measurement.middle("user") / 1e3, "us/peer-tick"),
      .init("kernel", measurement.middle("kernel") / 1e3, "us/peer-tick"),
      .init("players a core", (1e9 / 60 / cpu).rounded()),
      .init("datagrams a core", (datagrams / expected / cpu * 1e6).rounded(), "k/s"),
      .init("memory", measurement.middle("memory"), "B/peer"),
      .init(
        "in", measurement.middle("received") / expected * 100, "%", heading: "inputs received"),
      .init(
        "out", measurement.middle("arrived") / expected * 100, "%", heading: "states received"))
  }

  private mutating func addCrowd(_ measurement: SessionMeasurement, _ name: String) {
    let expected = measurement.condition * Double(SessionLoopback.crowdTicks)
    let rate = measurement.condition * Double(SessionLoopback.crowdHertz)
    report.add(
      name, .init("players", measurement.condition),
      .init("CPU", measurement.middle("cpu") / 1e3, "us/peer-tick"),
      .init("user", measurement.middle("user") / 1e3, "us/peer-tick"),
      .init("kernel", measurement.middle("kernel") / 1e3, "us/peer-tick"),
      .init("a core's share", measurement.middle("cpu") * rate / 1e7, "%"),
      .init(
        "its thread's alone", measurement.middle("thread") * rate / 1e7, "%",
        heading: "the loop thread's share"),
      .init("memory", measurement.middle("memory"), "B/peer"),
      .init(
        "in", measurement.middle("received") / expected * 100, "%", heading: "inputs received"),
      .init(
        "out", measurement.middle("arrived") / expected * 100, "%", heading: "states received"))
  }

  private mutating func addCoalesced(_ measurement: SessionMeasurement, _ name: String) {
    report.add(
      name, .init("CPU", measurement.middle("cpu"), "ns/message"),
      .init("offered", measurement.middle("rate") / 1e6, "M/s"),
      .init(
        "a datagram", measurement.middle("coalesced"), "messages", heading: "in each datagram"))
  }

  private mutating func addLoops(_ measurement: SessionMeasurement, _ name: String) {
    let busiest = measurement.middle("busiest")
    report.add(
      name, .init("loops", measurement.condition),
      .init("CPU", measurement.middle("cpu") / 1e3, "us/peer-tick"),
      .init("the busiest", busiest / 1e3, "us/peer-tick", heading: "the busiest loop"),
      .init("capacity", loopCapacity(measurement), "times"),
      .init("in", measurement.middle("received") * 100, "%", heading: "inputs received"),
      .init("streams handed over", measurement.middle("streams")),
      .init("datagrams passed on", measurement.middle("datagrams")))
  }

  private mutating func addBulk(_ measurement: SessionMeasurement, _ name: String) {
    report.add(
      name, .init("loss", measurement.condition * 100, "%"),
      .init("goodput", measurement.middle("goodput"), "Mbit/s"),
      .init("wire", measurement.middle("wire"), "times"),
      .init("queue p50", measurement.middle("out_wait_p50"), "ms"),
      .init("queue p99", measurement.middle("out_wait_p99"), "ms"),
      .init(
        "overflowed", measurement.middle("out_overflowed"), "packets", heading: "queue overflows"),
      .init("connect", measurement.middle("connect") / 1e3, "ms"))
  }

  private mutating func addAges(
    _ measurement: SessionMeasurement, _ name: String, _ figure: String
  ) {
    func time(_ percentile: String) -> Report.Figure {
      .init(percentile, measurement.middle("\(figure)_\(percentile)") / 1e3, "ms")
    }
    report.add(
      name, .init("loss", measurement.condition * 100, "%"), time("p50"), time("p90"),
      time("p99"), time("max"), .init("samples", measurement.middle("\(figure)_count")),
      .init("wire", measurement.middle("wire"), "times"),
      .init(
        "bytes", measurement.middle("out_bytes") / Double(command.seconds + SessionLossy.warm),
        "1/s"))
  }

  private mutating func addMigration(_ measurement: SessionMeasurement, _ name: String) {
    let expected = Double(60 * (SessionLossy.warm + command.seconds))
    report.add(
      name, .init("gap", measurement.middle("gap") / 1e3, "ms"),
      .init("arrived", measurement.middle("smalls") / expected * 100, "%"),
      .init("out of order", measurement.middle("disordered"), "messages"))
  }

  private mutating func addMixed(_ measurement: SessionMeasurement, _ name: String) {
    report.add(
      name, .init("loss", measurement.condition * 100, "%"),
      .init("goodput", measurement.middle("goodput"), "Mbit/s"),
      .init("wire", measurement.middle("wire"), "times"),
      .init("queue p50", measurement.middle("out_wait_p50"), "ms"),
      .init("queue p99", measurement.middle("out_wait_p99"), "ms"),
      .init("small p50", measurement.middle("small_p50") / 1e3, "ms"),
      .init("small p99", measurement.middle("small_p99") / 1e3, "ms"))
  }
}
