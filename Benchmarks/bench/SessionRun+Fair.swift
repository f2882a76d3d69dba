extension SessionRun {
  /// Three at a time: a path takes a few per cent of a core.
  mutating func measureFair() async {
    let able = subjects.filter { $0.has(.receive, .send) && $0.isReliable }
      .filter { $0.name != SessionSubject.carom(.stream).name }
    let settings = (1...command.rounds).flatMap { _ in
      able.flatMap {
        [SessionFair(subject: $0, isFirst: true), .init(subject: $0, isFirst: false)]
      }
    }
    for start in stride(from: 0, to: settings.count, by: 3) {
      let some = settings[start..<min(start + 3, settings.count)]
      let all = await withTaskGroup(of: (Int, Result<SessionFigures, any Error>).self) { group in
        for (number, setting) in zip(some.indices, some) {
          group.addTask {
            do { return (number, .success(try await setting.run())) } catch {
              return (number, .failure(error))
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      for (number, result) in all.sorted(by: { $0.0 < $1.0 }) {
        let setting = settings[number]
        switch result {
        case .success(let figures):
          measurements.add(
            figures, of: .fair, setting.subject.name, at: setting.isFirst ? 1 : 2)
        case .failure(let error): report.remarks.append("fair: \(error)")
        }
      }
    }
  }

  mutating func addFair(_ measurement: SessionMeasurement, _ name: String) {
    let (ours, theirs) = (measurement.middle("ours"), measurement.middle("theirs"))
    report.add(
      name, .init("comes", measurement.condition),
      .init("goodput", ours, "Mbit/s"), .init("CUBIC's", theirs, "Mbit/s"),
      .init("of a fair share", 2 * ours / (ours + theirs), "times"),
      .init("queue p50", measurement.middle("out_wait_p50"), "ms"),
      .init("queue p99", measurement.middle("out_wait_p99"), "ms"),
      .init("overflowed", measurement.middle("out_overflowed"), "packets"))
  }

  func fairGoals() -> [SessionGoal] {
    measurements.of(.fair).filter { $0.subject.hasPrefix("Carom") }.flatMap { measurement in
      let (ours, theirs) = (measurement.middle("ours"), measurement.middle("theirs"))
      let share = 2 * ours / (ours + theirs)
      let place = measurement.condition == 1 ? "first" : "second"
      return [SessionGoal.Bound.atLeast, .atMost].map { bound in
        SessionGoal(
          "share of a path with CUBIC, there \(place)", share, "fair shares", bound,
          bound == .atLeast ? 0.5 : 2)
      }
    }
  }
}
