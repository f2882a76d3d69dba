/// The figures of one subject under one condition, one entry for each round.
struct SessionMeasurement: Sendable {
  let scenario: SessionCommand.Scenario
  let subject: String
  /// The condition: a loss rate or a number of players.
  let condition: Double
  var rounds: [SessionFigures] = []

  /// Returns the median of a figure over the rounds, or `nan` if no round has it.
  func middle(_ name: String) -> Double {
    median(rounds.map { $0[name] }.filter(\.isFinite))
  }
}

/// All measurements of a run.
struct SessionMeasurements: Sendable {
  private(set) var all: [SessionMeasurement] = []

  mutating func add(
    _ figures: SessionFigures, of scenario: SessionCommand.Scenario, _ subject: String,
    at condition: Double
  ) {
    let same = all.firstIndex {
      $0.scenario == scenario && $0.subject == subject && $0.condition == condition
    }
    if let same {
      all[same].rounds.append(figures)
    } else {
      all.append(
        SessionMeasurement(
          scenario: scenario, subject: subject, condition: condition, rounds: [figures]))
    }
  }

  func of(_ scenario: SessionCommand.Scenario) -> [SessionMeasurement] {
    all.filter { $0.scenario == scenario }
  }

  subscript(scenario: SessionCommand.Scenario, subject: String, condition: Double)
    -> SessionMeasurement?
  {
    all.first {
      $0.scenario == scenario && $0.subject == subject && $0.condition == condition
    }
  }

  /// Returns the subjects of a scenario, in the order in which they were measured.
  func subjects(of scenario: SessionCommand.Scenario) -> [String] {
    of(scenario).reduce(into: []) { names, measurement in
      if !names.contains(measurement.subject) { names.append(measurement.subject) }
    }
  }
}
