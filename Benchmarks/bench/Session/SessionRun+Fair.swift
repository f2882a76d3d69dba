extension SessionRun {
  /// Runs three measurements at a time, since each path needs only a few percent of a core.
  mutating func measureFair() async {
    let able = subjects.filter { $0.has(.receive, .send) && $0.isReliable }
      .filter { $0.name != SessionSubject.carom(.stream).name }
    let settings = (1...command.rounds).flatMap { _ in
      able.flatMap {
        [SessionFair(subject: $0, isFirst: true), .init(subject: $0, isFirst: false)]
      }
    }
    let all = await outcomes(of: settings.count, atATime: 3) { try await settings[$0].run() }
    for outcome in all {
      let setting = settings[outcome.number]
      if let figures = outcome.figures {
        measurements.add(figures, of: .fair, setting.subject.name, at: setting.isFirst ? 1 : 2)
      } else {
        report.remarks.append("fair: \(outcome.failure)")
      }
    }
  }

  mutating func addFair(_ measurement: SessionMeasurement, _ name: String) {
    let (ours, theirs) = (measurement.middle("ours"), measurement.middle("theirs"))
    report.add(
      name, .init("comes", measurement.condition, heading: "starts as"),
      .init("goodput", ours, "Mbit/s"),
      .init("CUBIC's", theirs, "Mbit/s", heading: "CUBIC's goodput"),
      .init(
        "of a fair share", 2 * ours / (ours + theirs), "times",
        heading: "share against a fair one"),
      .init("queue p50", measurement.middle("out_wait_p50"), "ms"),
      .init("queue p99", measurement.middle("out_wait_p99"), "ms"),
      .init(
        "overflowed", measurement.middle("out_overflowed"), "packets", heading: "queue overflows"))
  }

  func fairGoals() -> [BenchmarkGoal] {
    measurements.of(.fair).filter { $0.subject.hasPrefix("Carom") }.flatMap { measurement in
      let (ours, theirs) = (measurement.middle("ours"), measurement.middle("theirs"))
      let share = 2 * ours / (ours + theirs)
      let place = measurement.condition == 1 ? "first" : "second"
      return [BenchmarkGoal.Bound.atLeast, .atMost].map { bound in
        BenchmarkGoal(
          "share of a path with CUBIC, started \(place)", share, "fair shares", bound,
          bound == .atLeast ? 0.5 : 2)
      }
    }
  }
}
