/// One run of `bench discovery`: its scenarios, and what they came to.
struct DiscoveryRun {
  let stack: DiscoveryLab.Stack
  let rounds: Int
  let isFull: Bool
  var report: Report
  var machine = Machine()
  /// Who is there: our own side first.
  private var subjects: [any DiscoverySubject.Type] = [DiscoveryCaromSubject.self]
  /// Labs at a time, so that they do not wait for each other's processor time.
  private static let labsAtATime = 9

  init(stack: DiscoveryLab.Stack, rounds: Int, isFull: Bool, title: String) {
    self.stack = stack
    self.rounds = rounds
    self.isFull = isFull
    report = Report(title: title)
    report.goals = []
    machine.sampleNoise()
  }

  mutating func findPeers() async {
    if DiscoveryAvahiSubject.isInstalled() {
      subjects.append(DiscoveryAvahiSubject.self)
    } else {
      report.remarks.append("avahi is missing: apt-get install avahi-daemon avahi-utils dbus")
    }
    if await DiscoveryZeroconfSubject.isInstalled() {
      subjects.append(DiscoveryZeroconfSubject.self)
    } else {
      report.remarks.append("python-zeroconf is missing: apt-get install python3-zeroconf")
    }
  }

  mutating func measure(
    _ scenario: DiscoveryCommand.Scenario, hosts: Int, services: Int
  ) async throws {
    report.beginTable()
    switch scenario {
    case .pairs: try await measurePairs()
    case .unique: try await measureUnique()
    case .hosts: try await measureScale("\(hosts) hosts", hosts: hosts, services: 1)
    case .services: try await measureScale("\(services) services", hosts: 1, services: services)
    case .many: try await measureScale("250 hosts x 4", hosts: 249, services: 4, alone: true)
    case .loss: try await measureLoss()
    case .faults: try await measureFaults()
    case .flood: try await measureFlood()
    }
    machine.sampleNoise()
  }

  func print(json: Bool) {
    var report = report
    report.machine = machine.line
    report.print(json: json)
  }

  /// Does `body` `count` times, some at a time; in the order of the numbers.
  private func repeated<Value: Sendable>(
    _ count: Int, atATime limit: Int = labsAtATime,
    _ body: @escaping @Sendable (Int) async throws -> Value
  ) async throws -> [Value] {
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
      var values: [Int: Value] = [:]
      for number in 0..<count {
        if number >= limit, let (index, value) = try await group.next() { values[index] = value }
        group.addTask { (number, try await body(number)) }
      }
      for try await (index, value) in group { values[index] = value }
      return values.sorted { $0.key < $1.key }.map(\.value)
    }
  }
}

// MARK: - Pairs

extension DiscoveryRun {
  private mutating func measurePairs() async throws {
    var pairs = subjects.map { DiscoveryPair(publisher: $0, browser: $0, stack: stack) }
    for peer in subjects.dropFirst() {
      pairs.append(DiscoveryPair(publisher: subjects[0], browser: peer, stack: stack))
      pairs.append(DiscoveryPair(publisher: peer, browser: subjects[0], stack: stack))
    }
    if !isFull { pairs.removeSubrange(subjects.count...) }
    let all = pairs
    let results = try await repeated(rounds * all.count) { number in
      (number % all.count, try? await all[number % all.count].run())
    }
    // What it costs where there is IPv4 alone: no other addresses in the messages.
    let only = DiscoveryPair(publisher: subjects[0], browser: subjects[0], stack: .v4)
    let onlyV4 = try await repeated(min(3, rounds)) { _ in try await only.run() }
    let grouped = all.indices.map { index in results.filter { $0.0 == index }.compactMap(\.1) }
    let failed = results.count { $0.1 == nil }
    if failed > 0 { report.remarks.append("\(failed) of \(results.count) rounds failed") }
    for (pair, rounds) in zip(all, grouped) { add(pair, rounds) }
    addRatios(Array(zip(all, grouped)))
    addPairGoals(grouped[0])
    addWireGoals(onlyV4)
  }

  private mutating func add(_ pair: DiscoveryPair, _ rounds: [DiscoveryPair.Round]) {
    func middle(_ value: (DiscoveryPair.Round) -> Double) -> Double {
      median(rounds.map(value).filter(\.isFinite))
    }
    report.add(
      pair.name,
      .init("found", median(rounds.flatMap(\.found).filter(\.isFinite)), "ms"),
      .init("resolved", median(rounds.flatMap(\.resolved).filter(\.isFinite)), "ms"),
      .init("frames", middle { Double($0.publishFrames.count) }),
      .init("bytes", middle { Double(DiscoveryWire($0.publishFrames).bytes) }),
      .init("cold found", middle(\.coldFound), "ms"),
      .init("cold resolved", middle(\.coldResolved), "ms"),
      .init("cold frames", middle { Double($0.coldFrames.count) }),
      .init("cold bytes", middle { Double(DiscoveryWire($0.coldFrames).bytes) }),
      .init("warm", middle(\.warm), "ms"), .init("removed", middle(\.removed), "ms"))
    let lost = rounds.count { !$0.resolved.allSatisfy(\.isFinite) || !$0.coldResolved.isFinite }
    if lost > 0 { report.remarks.append("\(pair.name): \(lost) rounds resolved nothing") }
  }

  /// Ours against the best peer of the run, at publishing and at cold browsing.
  private mutating func addRatios(_ results: [(DiscoveryPair, [DiscoveryPair.Round])]) {
    let peers = results.filter {
      $0.0.publisher == $0.0.browser && $0.0.publisher != subjects[0]
    }
    func best(_ value: (DiscoveryPair.Round) -> Double) -> Double { best { [value($0)] } }
    func best(_ values: (DiscoveryPair.Round) -> [Double]) -> Double {
      let ours = median(results[0].1.flatMap(values).filter(\.isFinite))
      let theirs = peers.map { median($0.1.flatMap(values).filter(\.isFinite)) }.min() ?? .nan
      return ours / theirs
    }
    guard !peers.isEmpty else { return }
    report.add(
      "carom / best peer", .init("found", best(\.found), "ms"),
      .init("resolved", best(\.resolved), "ms"),
      .init("frames", best { Double($0.publishFrames.count) }),
      .init("bytes", best { Double(DiscoveryWire($0.publishFrames).bytes) }),
      .init("cold found", best(\.coldFound), "ms"),
      .init("cold resolved", best(\.coldResolved), "ms"),
      .init("cold frames", best { Double($0.coldFrames.count) }),
      .init("cold bytes", best { Double(DiscoveryWire($0.coldFrames).bytes) }))
  }

  private mutating func addPairGoals(_ rounds: [DiscoveryPair.Round]) {
    let most = { (samples: [Double]) in samples.max() ?? .nan }
    let resolved = rounds.flatMap(\.resolved)
    let cold = rounds.map(\.coldResolved)
    report.goals? += [
      .init("G2", "publish -> resolved, median", resolved, atMost: 900),
      .init("G2", "publish -> resolved, most", resolved, atMost: 1_050, figure: most),
      .init("G4", "cold browse -> resolved, median", cold, atMost: 150),
      .init("G4", "cold browse -> resolved, most", cold, atMost: 270, figure: most),
      .init("G5", "warm browse -> resolved, median", rounds.map(\.warm), atMost: 1),
      .init("G10", "goodbye -> removed, most", rounds.map(\.removed), atMost: 1_100, figure: most),
    ]
    guard let first = rounds.first else { return }
    for (what, frames) in [("publish", first.publishFrames), ("cold", first.coldFrames)] {
      report.remarks.append("\(what), first round: \(DiscoveryWire(frames).kinds)")
    }
  }

  private mutating func addWireGoals(_ rounds: [DiscoveryPair.Round]) {
    func own(_ round: DiscoveryPair.Round) -> [DiscoveryCapture.Frame] {
      round.publishFrames.filter { $0.host == 1 }
    }
    let wire = { (frames: [DiscoveryCapture.Frame]) in Double(DiscoveryWire(frames).bytes) }
    report.goals? += [
      .init(
        "G6", "IPv4 alone: cold browse, frames in 2.5 s",
        rounds.map { Double($0.coldFrames.count) }, "frames", atMost: 3),
      .init(
        "G6", "IPv4 alone: cold browse, bytes in 2.5 s", rounds.map { wire($0.coldFrames) }, "B",
        atMost: 350),
      .init(
        "G6", "IPv4 alone: the publisher's frames in 3.2 s", rounds.map { Double(own($0).count) },
        "frames", atMost: 5),
      .init(
        "G6", "IPv4 alone: the publisher's bytes in 3.2 s", rounds.map { wire(own($0)) }, "B",
        atMost: 900),
    ]
  }

  private mutating func measureUnique() async throws {
    let faults = DiscoveryFaults(stack: stack)
    let times = try await repeated(rounds) { _ in try await faults.unique() }.flatMap(\.self)
    report.goals?.append(
      .init("G3", "publish under a unique name -> resolved, median", times, atMost: 30))
  }
}

// MARK: - Many

extension DiscoveryRun {
  private mutating func measureScale(
    _ name: String, hosts: Int, services: Int, alone: Bool = false
  ) async throws {
    let ours = [DiscoveryCaromSubject.self, DiscoveryCaromSubject.self]
    let scale = DiscoveryScale(
      hosts: hosts, servicesOfHost: services, stack: stack,
      browsers: alone ? [subjects[0]] : ours + subjects.dropFirst())
    let outcomes = try await scale.run()
    for outcome in outcomes {
      report.add(
        "\(name), \(outcome.browser) browses", .init("cold resolved", outcome.resolved, "ms"),
        .init("cold frames", Double(outcome.frames)),
        .init("responses, v4", Double(outcome.responses)),
        .init("later", Double(outcome.laterResponses)),
        .init("largest", Double(outcome.largestMessage), "B"),
        .init("CPU", outcome.cpu, "ms"))
      if outcome.resolvedCount < hosts * services {
        report.remarks.append(
          "\(name), \(outcome.browser): \(outcome.resolvedCount) of \(hosts * services) resolved")
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
  private mutating func measureLoss() async throws {
    let samples = isFull ? 13 : 5
    let limits = [
      20: [("median", 50, 250.0), ("p95", 95, 1_300), ("p99", 99, 3_300)],
      50: [("median", 50, 1_300), ("p90", 90, 7_300)],
    ]
    let stack = stack
    for subject in isFull ? subjects : [subjects[0]] {
      let results = try await repeated(16, atATime: 16) { number in
        let percent = number % 2 == 0 ? 20 : 50
        let loss = DiscoveryLoss(
          percent: percent, stack: stack, publisher: subject, browser: subject, samples: samples)
        return (percent, try await loss.run())
      }
      for percent in [20, 50] {
        // Half a minute without an answer is longer than every figure.
        let times = results.filter { $0.0 == percent }.flatMap(\.1)
          .map { $0.isFinite ? $0 : .infinity }
        report.add(
          "loss \(percent) %, \(subject.name)",
          .init("cold resolved", times.percentile(50), "ms"),
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
  }

  private mutating func measureFaults() async throws {
    let faults = DiscoveryFaults(stack: stack)
    async let conflicts = repeated(rounds) { _ in try await faults.conflict() }
    async let splits = repeated(rounds) { _ in try await faults.split() }
    let (renamed, joined) = try await (conflicts, splits)
    async let crashes = repeated(3) { _ in try await faults.crash() }
    async let returns = repeated(rounds) { _ in try await faults.again() }
    let (gone, again) = try await (crashes, returns)
    async let changes = repeated(3) { _ in try await faults.changes() }
    async let cables = repeated(3) { _ in try await faults.browserCable() }
    let (changed, cable) = try await (changes, cables)
    report.goals? += [
      .init("G10", "withdrawn and published again: told as removed", again, "", atMost: 0),
      .init("G10", "crash, reconfirm -> removed", gone, atMost: 11_000),
      .init("G11", "second publish -> established as X (2)", renamed, atMost: 1_400),
      .init("G11", "first packet between joined segments -> renamed", joined, atMost: 2_000),
      .init("G12", "cable in -> announced", changed.map(\.cable), atMost: 1_100),
      .init("G12", "address added -> announced", changed.map(\.address), atMost: 1_100),
      .init("G12", "interface added -> announced", changed.map(\.interface), atMost: 1_100),
      .init("G12", "browser's cable out -> removed", cable.map(\.out), atMost: 1_100),
      .init("G12", "browser's cable in -> resolved", cable.map(\.back), atMost: 1_100),
    ]
  }

  private mutating func measureFlood() async throws {
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
        .init("G13", "60,000 \(what): memory more", [outcomes[0].growth / 1_024], "MiB", atMost: 4))
    }
  }
}
