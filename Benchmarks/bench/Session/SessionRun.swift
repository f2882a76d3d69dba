import Carom
import EchoPeers
import SessionPeers

/// One run of `bench session`: its subjects, their measurements and the resulting tables.
struct SessionRun {
  let command: SessionCommand
  var report: Report
  var machine = Machine()
  var measurements = SessionMeasurements()
  /// The exact counts, or nil if they were not measured.
  private(set) var counts: SessionCounts?
  /// The cost of a connected peer's hostile packets.
  private(set) var hostile: [SessionHostilePeer.Cost] = []
  private(set) var subjects: [SessionSubject] = []

  init(_ command: SessionCommand) {
    self.command = command
    let rounds = command.rounds == 1 ? "one round" : "medians of \(command.rounds) rounds"
    report = Report(title: "bench session: \(rounds)")
    machine.sampleNoise()
  }

  mutating func findSubjects() async {
    subjects = [.carom(.datagrams)]
    subjects += Cipher.allCases.filter(\.isAvailable).map { .carom($0) } + [.carom(.stream)]
    guard !command.withoutPeers else { return }
    subjects += [.plainTCP, .udp, .libuv, .tcp("cubic"), .tcp("bbr")]
    if let enet = await SessionENet.built() {
      subjects.append(enet)
    } else {
      report.remarks.append(
        "ENet was not measured, because its peer did not build: \(SessionENet.remedy)")
    }
  }

  mutating func measure(_ scenario: SessionCommand.Scenario) async {
    switch scenario {
    case .counts:
      counts = SessionCounts()
      hostile = SessionHostilePeer.measure()
    case .costs: measureCosts()
    case .echo, .game, .coalesced, .crowd: await measureLoopback(scenario)
    case .loops: await measureLoops()
    case .flood: await measureFlood()
    case .bulk, .small, .states, .mixed, .migration: await measureLossy(scenario)
    case .fair: await measureFair()
    }
    machine.sampleNoise()
  }

  mutating func print(json: Bool) {
    for cost in hostile {
      report.add(
        "a packet of \(cost.kind.rawValue)", title: "a packet of \(cost.kind.title)",
        .init("p50", cost.middle / 1e3, "us"),
        .init("p99", cost.most / 1e3, "us"), .init("max", cost.worst / 1e3, "us"))
    }
    for scenario in SessionCommand.Scenario.allCases where !measurements.of(scenario).isEmpty {
      report.beginTable()
      addTable(of: scenario)
    }
    addGoals()
    report.machine = machine.line
    report.print(json: json)
  }

  private mutating func measureCosts() {
    for _ in 1...command.rounds {
      let costs = session_measure_costs(640_000)
      var figures = SessionFigures()
      figures["send"] = costs.send
      figures["receive"] = costs.receive
      figures["send_batch"] = costs.send_batch
      figures["receive_batch"] = costs.receive_batch
      figures["send_segments"] = costs.send_segments
      measurements.add(figures, of: .costs, "the kernel", at: 0)
    }
  }

  /// Measures one subject after another, so that each has both cores for itself.
  private mutating func measureLoopback(_ scenario: SessionCommand.Scenario) async {
    for round in 1...command.rounds {
      machine.sampleNoise()
      for subject in subjects {
        for setting in SessionLoopback.settings(of: scenario, subject, peers: command.peers) {
          do {
            let figures = try await setting.run()
            measurements.add(figures, of: scenario, setting.name, at: setting.condition)
          } catch {
            report.remarks.append("\(scenario.rawValue), round \(round): \(error)")
          }
        }
      }
    }
  }

  private mutating func measureLoops() async {
    for round in 1...command.rounds {
      for setting in SessionLoops.all {
        do {
          let figures = try await setting.run()
          measurements.add(figures, of: .loops, setting.name, at: Double(setting.loops))
        } catch {
          report.remarks.append("loops, round \(round): \(error)")
        }
      }
    }
  }

  /// Measures several settings at a time, since each path needs only a few percent of a core.
  private mutating func measureLossy(_ scenario: SessionCommand.Scenario) async {
    let settings = subjects.flatMap { subject in
      (scenario == .migration ? [0] : command.loss).flatMap { loss in
        (1...command.rounds).compactMap { round in
          SessionLossy(
            scenario, subject, loss: loss / 100, seconds: command.seconds, seed: round)
        }
      }
    }
    let atATime = scenario == .bulk || scenario == .mixed ? 3 : 8
    let all = await outcomes(of: settings.count, atATime: atATime) { try await settings[$0].run() }
    for outcome in all {
      let setting = settings[outcome.number]
      if let figures = outcome.figures {
        measurements.add(figures, of: scenario, setting.subject.name, at: setting.loss)
      } else {
        report.remarks.append("\(scenario.rawValue) at \(setting.percent): \(outcome.failure)")
      }
    }
  }

  /// The result of a measurement: its figures, or the reason why it failed.
  struct Outcome: Sendable {
    let number: Int
    var figures: SessionFigures?
    var failure = ""
  }

  func outcomes(
    of count: Int, atATime limit: Int,
    _ run: @escaping @Sendable (Int) async throws -> SessionFigures
  ) async -> [Outcome] {
    await withTaskGroup(of: Outcome.self) { group in
      var outcomes: [Outcome] = []
      for number in 0..<count {
        if number >= limit, let outcome = await group.next() { outcomes.append(outcome) }
        group.addTask {
          do {
            return Outcome(number: number, figures: try await run(number))
          } catch {
            return Outcome(number: number, failure: "\(error)")
          }
        }
      }
      for await outcome in group { outcomes.append(outcome) }
      return outcomes.sorted { $0.number < $1.number }
    }
  }
}
