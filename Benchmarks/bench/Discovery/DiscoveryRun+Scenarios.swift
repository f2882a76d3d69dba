// MARK: - Many services

extension DiscoveryRun {
  mutating func measureScale(
    _ name: String, hosts: Int, services: Int, alone: Bool = false
  ) async throws {
    let ours = [any DiscoverySubject.Type](repeating: subjects[0], count: isFull ? 2 : 1)
    let scale = DiscoveryScale(
      hosts: hosts, servicesOfHost: services, stack: stack,
      browsers: alone ? [subjects[0]] : ours + subjects.dropFirst())
    let outcomes = try await scale.run()
    for outcome in outcomes {
      report.add(
        "\(name), \(outcome.browser) browses", .init("cold resolved", outcome.resolved, "ms"),
        .init("cold frames", Double(outcome.frames)),
        .init("responses, v4", Double(outcome.responses)),
        .init("later", Double(outcome.laterResponses), heading: "responses afterwards"),
        .init("largest", Double(outcome.largestMessage), "B", heading: "largest message"),
        .init("CPU", outcome.cpu, "ms"))
      if outcome.resolvedCount < hosts * services {
        report.remarks.append(
          "\(name), \(outcome.browser): "
            + "only \(outcome.resolvedCount) of \(hosts * services) services were resolved"
        )
      }
    }
    let own = outcomes.filter { $0.browser == DiscoveryCaromSubject.name }
    addScaleGoals(name, own, hosts: hosts, services: services)
  }

  private mutating func addScaleGoals(
    _ name: String, _ outcomes: [DiscoveryScale.Outcome], hosts: Int, services: Int
  ) {
    let resolved = outcomes.map(\.resolved)
    if hosts > 100 {
      report.goals? += [
        .init("G8", "\(name): all resolved", resolved, atMost: 1_500),
        .init("G8", "\(name): the browser's CPU", outcomes.map(\.cpu), atMost: 200),
        .init(
          "G8", "\(name): largest message", outcomes.map { Double($0.largestMessage) }, "B",
          atMost: 1_472),
      ]
    } else if hosts > 1 {
      report.goals? += [
        .init("G7", "\(name): all resolved", resolved, atMost: 350),
        .init("G7", "\(name): frames", outcomes.map { Double($0.frames) }, "frames", atMost: 102),
      ]
    } else {
      report.goals? += [
        .init("G7", "\(name): all resolved", resolved, atMost: 300),
        .init(
          "G7", "\(name): responses over IPv4", outcomes.map { Double($0.responses) }, "frames",
          atMost: 15),
        .init(
          "G7", "\(name): repeated answers", outcomes.map { Double($0.laterResponses) }, "frames",
          atMost: 0),
      ]
    }
  }
}

// MARK: - Loss, faults, floods

extension DiscoveryRun {
  /// The times of each subject under each loss rate.
  typealias LossTimes = [(subject: any DiscoverySubject.Type, percent: Int, times: [Double])]

  func collectLoss() async throws -> LossTimes {
    let limit = Duration.seconds(isFull ? 30 : 12)
    let stack = stack
    var all: LossTimes = []
    for subject in isFull ? subjects : [subjects[0]] {
      let samples = isFull && subject == subjects[0] ? 13 : 5
      let results = try await repeated(16, atATime: 16) { number in
        let percent = number % 2 == 0 ? 20 : 50
        let loss = DiscoveryLoss(
          percent: percent, stack: stack, publisher: subject, browser: subject, samples: samples,
          limit: limit)
        return (percent, try await loss.run())
      }
      for percent in [20, 50] {
        all.append((subject, percent, results.filter { $0.0 == percent }.flatMap(\.1)))
      }
    }
    return all
  }

  mutating func addLoss(_ all: LossTimes) {
    let limits = [
      20: [("median", 50, 250.0), ("p95", 95, 1_300), ("p99", 99, 3_300)],
      50: [("median", 50, 1_300), ("p90", 90, 7_300)],
    ]
    for (subject, percent, times) in all {
      // A service that was never resolved counts as slower than every limit.
      let times = times.map { $0.isFinite ? $0 : .infinity }
      report.add(
        "loss \(percent) %, \(subject.name)", .init("cold resolved", times.percentile(50), "ms"),
        .init("p90", times.percentile(90), "ms"), .init("p99", times.percentile(99), "ms"))
      guard subject == subjects[0] else { continue }
      for (word, part, limit) in limits[percent] ?? [] {
        report.goals?.append(
          DiscoveryGoal(
            "G9", "loss of \(percent) %: cold browse -> resolved, \(word)", times, atMost: limit
          ) { $0.percentile(part) })
      }
    }
  }

  /// The times of the faults scenario, in milliseconds.
  struct FaultTimes: Sendable {
    var renamed: [Double]
    var joined: [Double]
    var removed: [Double]
    var again: [Double]
    var changes: [DiscoveryFaults.Changes]
    var cables: [(out: Double, back: Double)]
  }

  func collectFaults() async throws -> FaultTimes {
    let faults = DiscoveryFaults(stack: stack)
    async let conflicts = repeated(rounds) { _ in try await faults.conflict() }
    async let splits = repeated(rounds) { _ in try await faults.split() }
    let (renamed, joined) = try await (conflicts, splits)
    async let crashes = repeated(3) { _ in try await faults.crash() }
    async let returns = repeated(rounds) { _ in try await faults.again() }
    async let changes = repeated(3) { _ in try await faults.changes() }
    async let cables = repeated(3) { _ in try await faults.browserCable() }
    return try await FaultTimes(
      renamed: renamed, joined: joined, removed: crashes, again: returns, changes: changes,
      cables: cables)
  }

  mutating func addFaults(_ times: FaultTimes) {
    report.goals? += [
      .init(
        "G10", "withdrawn and published again: reported as removed", times.again, "", atMost: 0),
      .init("G10", "crash, reconfirm -> removed", times.removed, atMost: 11_000),
      .init("G11", "second publish -> established as X (2)", times.renamed, atMost: 1_400),
      .init("G11", "first packet between joined segments -> renamed", times.joined, atMost: 2_000),
      .init("G12", "cable in -> announced", times.changes.map(\.cable), atMost: 1_100),
      .init("G12", "address added -> announced", times.changes.map(\.address), atMost: 1_100),
      .init("G12", "interface added -> announced", times.changes.map(\.interface), atMost: 1_100),
      .init("G12", "browser's cable out -> removed", times.cables.map(\.out), atMost: 1_100),
      .init("G12", "browser's cable in -> resolved", times.cables.map(\.back), atMost: 1_100),
    ]
  }

  mutating func measureFlood() async throws {
    let faults = DiscoveryFaults(stack: stack)
    for fakes in [false, true] {
      let outcomes = try await faults.flood(
        60_000, fakes: fakes, browsers: fakes ? [subjects[0]] : subjects)
      let what = fakes ? "services that do not exist" : "junk records"
      for outcome in outcomes {
        report.add(
          "60,000 \(what), \(outcome.browser)", .init("found", outcome.found, "ms"),
          .init("memory", outcome.growth / 1_024, "MiB"))
      }
      report.goals?.append(
        .init("G13", "60,000 \(what): a new service is found", [outcomes[0].found], atMost: 1_300))
      guard !fakes else { continue }
      report.goals?.append(
        .init(
          "G13", "60,000 \(what): growth of memory", [outcomes[0].growth / 1_024], "MiB", atMost: 4)
      )
    }
  }
}
