/// Many services, and browsers with empty caches.
struct DiscoveryScale: Sendable {
  /// The result of one browser.
  struct Outcome: Sendable {
    let browser: String
    /// The milliseconds until all services were resolved, or `nan` if some were not.
    var resolved = Double.nan
    var resolvedCount = 0
    /// The number of frames until all services were resolved.
    var frames = 0
    /// The number of responses over IPv4 to the first query, and to the later ones, whose known
    /// answers should prevent them.
    var responses = 0
    var laterResponses = 0
    var largestMessage = 0
    /// The browser's processor time until all services were resolved, in milliseconds, or `nan` if
    /// it is not known.
    var cpu = Double.nan
  }

  let hosts: Int
  let servicesOfHost: Int
  let stack: NetworkLab.Stack
  /// The browsers, which run one after another.
  let browsers: [any DiscoverySubject.Type]

  /// The time for which responses answer the first query, in milliseconds: the next query follows a
  /// second after it. The same answers arrive over IPv4 and over IPv6, each after a random delay,
  /// so those over IPv4 may arrive when everything is resolved already.
  private static let firstAnswers = 900.0

  private var total: Int { hosts * servicesOfHost }

  func run() async throws -> [Outcome] {
    try await NetworkLab.with(hosts: hosts + browsers.count, stack) { lab in
      let publishers = try await startPublishers(lab)
      // Wait until the last announcements are over.
      try await Task.sleep(for: .seconds(3))
      var outcomes: [Outcome] = []
      for (index, browser) in browsers.enumerated() {
        let subject = browser.init(in: lab, host: "h\(hosts + index + 1)")
        let outcome = try await browse(subject, browser.name, lab, isFirst: index == 0)
        outcomes.append(outcome)
      }
      for publisher in publishers { publisher.endInput() }
      return outcomes
    }
  }

  private func startPublishers(_ lab: NetworkLab) async throws -> [ChildProgram] {
    try await withThrowingTaskGroup(of: ChildProgram.self) { group in
      for host in 1...hosts {
        group.addTask {
          let program = try await lab.startPeer("h\(host)")
          program.send("many\tTable \(host)\t\(DiscoveryPair.type)\t\(servicesOfHost)")
          let last = " established Table \(host) \(servicesOfHost)"
          guard await program.line(within: .seconds(60), where: { $0.hasSuffix(last) }) != nil
          else {
            throw BenchmarkFailure(
              "h\(host) did not publish its services within 60 s: "
                + "run again with fewer --hosts or --services"
            )
          }
          return program
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  private func browse(
    _ subject: any DiscoverySubject, _ name: String, _ lab: NetworkLab, isFirst: Bool
  ) async throws -> Outcome {
    try await subject.prepare()
    try await Task.sleep(for: .seconds(name == DiscoveryAvahiSubject.name ? 4 : 2))
    let capture = try await lab.capture()
    let carom = subject as? DiscoveryCaromSubject
    let cpuBefore = try await carom?.usage().milliseconds ?? .nan
    let sighting = try await subject.browse()
    var outcome = Outcome(browser: name)
    let deadline = ContinuousClock.now + .seconds(15)
    while outcome.resolvedCount < total, ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(25))
      let (count, last) = sighting.resolvedNames()
      outcome.resolvedCount = count
      if count >= total { outcome.resolved = last - sighting.begin }
    }
    outcome.cpu = try await (carom?.usage().milliseconds ?? .nan) - cpuBefore
    // Wait until the queries at 1, 3 and 7 s are over. For other browsers than the first, seeing
    // the query at 1 s is enough.
    await ChildProgram.sleep(until: sighting.begin + (isFirst ? 8_000 : 2_000))
    let all = capture.frames(from: sighting.begin - 20)
    let end = outcome.resolved.isFinite ? sighting.begin + outcome.resolved : .infinity
    let responses = all.filter { $0.kind == .response && !$0.isV6 }
    outcome.frames = all.count { $0.time <= end }
    let boundary = max(end, sighting.begin + Self.firstAnswers)
    outcome.responses = responses.count { $0.time <= boundary }
    outcome.laterResponses = responses.count { $0.time > boundary }
    outcome.largestMessage = all.map(\.messageBytes).max() ?? 0
    try await subject.reset()
    return outcome
  }
}
