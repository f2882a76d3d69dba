/// A publisher and a browser, two hosts, and what passes between them.
struct DiscoveryPair: Sendable {
  /// What is published and browsed.
  static let type = "_game._udp"
  /// Services that are published in a round, one after the other.
  private static let publishings = 4
  /// How long frames count that follow a publishing, milliseconds.
  private static let publishWindow = 3_200.0
  /// How long frames count that follow a cold browsing, milliseconds.
  private static let browseWindow = 2_500.0

  /// What one round came to, milliseconds; `nan` where it did not happen.
  struct Round: Sendable {
    /// From publishing to the event of a browser that runs, several times.
    var found: [Double] = []
    var resolved: [Double] = []
    /// From taking back to the event.
    var removed = Double.nan
    /// From browsing, without knowledge, to the event of an established service.
    var coldFound = Double.nan
    var coldResolved = Double.nan
    /// From browsing once more to the event.
    var warm = Double.nan
    var publishFrames: [DiscoveryCapture.Frame] = []
    var coldFrames: [DiscoveryCapture.Frame] = []
  }

  let publisher: any DiscoverySubject.Type
  let browser: any DiscoverySubject.Type
  let stack: DiscoveryLab.Stack

  var name: String { "\(publisher.name) -> \(browser.name)" }

  func run() async throws -> Round {
    try await DiscoveryLab.with(hosts: 2, stack) { lab in
      let publisher = publisher.init(in: lab, host: "h1")
      let browser = browser.init(in: lab, host: "h2")
      try await publisher.prepare()
      try await browser.prepare()
      try await Task.sleep(for: .seconds(1))
      let capture = try await lab.capture()
      var round = Round()
      try await publishWhileBrowsing(publisher, browser, capture, &round)
      try await browseCold(publisher, browser, capture, &round)
      return round
    }
  }

  private func publishWhileBrowsing(
    _ publisher: any DiscoverySubject, _ browser: any DiscoverySubject,
    _ capture: DiscoveryCapture, _ round: inout Round
  ) async throws {
    let sighting = try await browser.browse()
    // Past the queries at 0, 1 and 3 s: the next one comes after 7 s.
    try await Task.sleep(for: .milliseconds(4_500))
    let begin = try await publisher.publish("Svc")
    round.found.append(await sighting.time(of: .found, "Svc", since: begin))
    round.resolved.append(await sighting.time(of: .resolved, "Svc", since: begin))
    await DiscoveryProgram.sleep(until: begin + Self.publishWindow)
    round.publishFrames = capture.frames(from: begin, to: begin + Self.publishWindow)
    let end = try await publisher.withdraw()
    round.removed = await sighting.time(of: .removed, "Svc", since: end)
    // The wait before the first probe is by chance: more of them, without their packets.
    for number in 2...Self.publishings {
      let name = "Svc \(number)"
      let begin = try await publisher.publish(name)
      round.found.append(await sighting.time(of: .found, name, since: begin))
      round.resolved.append(await sighting.time(of: .resolved, name, since: begin))
      _ = try await publisher.withdraw()
    }
  }

  private func browseCold(
    _ publisher: any DiscoverySubject, _ browser: any DiscoverySubject,
    _ capture: DiscoveryCapture, _ round: inout Round
  ) async throws {
    _ = try await publisher.publish("Cold")
    try await Task.sleep(for: .seconds(4))
    try await browser.forget()
    try await Task.sleep(for: .milliseconds(2_500))
    let sighting = try await browser.browse()
    round.coldFound = await sighting.time(of: .found, "Cold", since: sighting.begin)
    round.coldResolved = await sighting.time(of: .resolved, "Cold", since: sighting.begin)
    let end = sighting.begin + Self.browseWindow
    await DiscoveryProgram.sleep(until: end)
    // A browser's program may have asked before it said so.
    round.coldFrames = capture.frames(from: sighting.begin - 20, to: end)
    let again = try await browser.browseAgain()
    round.warm = await again.time(of: .resolved, "Cold", since: again.begin)
  }
}

extension DiscoverySighting {
  /// Milliseconds from `begin` to an event; `nan` where it does not come in time.
  func time(
    of event: Event, _ name: String, since begin: Double, within limit: Duration = .seconds(10)
  ) async -> Double {
    await time(of: event, name, within: limit).map { $0 - begin } ?? .nan
  }
}

extension DiscoveryProgram {
  /// Waits for a time of the hosts' clock, milliseconds.
  static func sleep(until time: Double) async {
    try? await Task.sleep(for: .microseconds(Int64(max(0, (time - now) * 1e3))))
  }
}
