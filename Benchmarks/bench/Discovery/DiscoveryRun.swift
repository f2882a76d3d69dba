/// One run of `bench discovery`: its scenarios and their results.
struct DiscoveryRun {
  let stack: NetworkLab.Stack
  let rounds: Int
  let isFull: Bool
  var report: Report
  var machine = Machine()
  /// The implementations to measure, Carom first.
  private(set) var subjects: [any DiscoverySubject.Type] = [DiscoveryCaromSubject.self]
  /// The number of labs that run at the same time; more would compete for processor time.
  static let labsAtATime = 9

  init(stack: NetworkLab.Stack, rounds: Int, isFull: Bool, title: String) {
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
      report.remarks.append(
        "avahi is not installed, so it was not measured: "
          + "apt-get install avahi-daemon avahi-utils dbus"
      )
    }
    if await DiscoveryZeroconfSubject.isInstalled() {
      subjects.append(DiscoveryZeroconfSubject.self)
    } else {
      report.remarks.append(
        "python-zeroconf is not installed, so it was not measured: "
          + "apt-get install python3-zeroconf"
      )
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
    case .loss: try await addLoss(collectLoss())
    case .faults: try await addFaults(collectFaults())
    case .flood: try await measureFlood()
    case .neighbor: try await measureNeighbor()
    case .bursts: try await measureBursts()
    case .registrations: try await measureRegistrations()
    }
    machine.sampleNoise()
  }

  /// Measures both scenarios at the same time, since they mostly wait.
  mutating func measureLossAndFaults() async throws {
    report.beginTable()
    async let loss = collectLoss()
    async let faults = collectFaults()
    let results = try await (loss, faults)
    addLoss(results.0)
    addFaults(results.1)
    machine.sampleNoise()
  }

  func print(json: Bool) {
    var report = report
    report.machine = machine.line
    report.print(json: json)
  }

  /// Runs `body` `count` times, at most `limit` at a time. Returns the results in order of their
  /// numbers.
  func repeated<Value: Sendable>(
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
    // The cost with IPv4 alone, where messages contain no IPv6 addresses.
    let only = DiscoveryPair(publisher: subjects[0], browser: subjects[0], stack: .v4)
    let onlyV4 = try await repeated(min(3, rounds)) { _ in try await only.run() }
    let grouped = all.indices.map { index in results.filter { $0.0 == index }.compactMap(\.1) }
    let failed = results.count { $0.1 == nil }
    if failed > 0 {
      report.remarks.append("\(failed) of \(results.count) rounds failed and are not counted")
    }
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
    if lost > 0 {
      report.remarks.append("\(pair.name): \(lost) rounds did not resolve every service")
    }
  }

  /// Adds the ratios of Carom's times, frames and bytes to the best peer's of the run.
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
