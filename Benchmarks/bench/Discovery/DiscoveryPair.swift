/// A publisher and a browser on two hosts: measures the times of events and the frames between the
/// hosts.
struct DiscoveryPair: Sendable {
  /// The service type that is published and browsed.
  static let type = "_game._udp"
  /// The number of services that are published in a round, one after another.
  private static let publicationCount = 4
  /// The time after a publication during which frames are counted, in milliseconds.
  private static let publishWindow = 3_200.0
  /// The time after a browse with an empty cache during which frames are counted, in milliseconds.
  private static let browseWindow = 2_500.0

  /// The results of one round, in milliseconds; `nan` if an event did not happen.
  struct Round: Sendable {
    /// The times from each publication to the event of a running browser.
    var found: [Double] = []
    var resolved: [Double] = []
    /// The time from the withdrawal to the event.
    var removed = Double.nan
    /// The times from a browse with an empty cache to the events of an established service.
    var coldFound = Double.nan
    var coldResolved = Double.nan
    /// The time from a second browse, with a filled cache, to the event.
    var warm = Double.nan
    var publishFrames: [DiscoveryCapture.Frame] = []
    var coldFrames: [DiscoveryCapture.Frame] = []
  }

  let publisher: any DiscoverySubject.Type
  let browser: any DiscoverySubject.Type
  let stack: NetworkLab.Stack

  var name: String { "\(publisher.name) -> \(browser.name)" }

  func run() async throws -> Round {
    try await NetworkLab.with(hosts: 2, stack) { lab in
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
    // Wait until the queries at 0, 1 and 3 s are over; the next one follows at 7 s.
    try await Task.sleep(for: .milliseconds(4_500))
    let begin = try await publisher.publish("Svc")
    round.found.append(await sighting.time(of: .found, "Svc", since: begin))
    round.resolved.append(await sighting.time(of: .resolved, "Svc", since: begin))
    await ChildProgram.sleep(until: begin + Self.publishWindow)
    round.publishFrames = capture.frames(from: begin, to: begin + Self.publishWindow)
    let end = try await publisher.withdraw()
    round.removed = await sighting.time(of: .removed, "Svc", since: end)
    // The delay before the first probe is random, so more services are published to get more
    // samples. Their frames are not counted.
    for number in 2...Self.publicationCount {
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
    try await browser.reset()
    try await Task.sleep(for: .milliseconds(2_500))
    let sighting = try await browser.browse()
    round.coldFound = await sighting.time(of: .found, "Cold", since: sighting.begin)
    round.coldResolved = await sighting.time(of: .resolved, "Cold", since: sighting.begin)
    let end = sighting.begin + Self.browseWindow
    await ChildProgram.sleep(until: end)
    // The browser's process may have asked shortly before it printed that it browses.
    round.coldFrames = capture.frames(from: sighting.begin - 20, to: end)
    let again = try await browser.browseAgain()
    round.warm = await again.time(of: .resolved, "Cold", since: again.begin)
  }
}

extension DiscoverySighting {
  /// Returns the milliseconds from `begin` to an event, or `nan` if it does not happen within
  /// `limit`.
  func time(
    of event: Event, _ name: String, since begin: Double, within limit: Duration = .seconds(10)
  ) async -> Double {
    await time(of: event, name, within: limit).map { $0 - begin } ?? .nan
  }
}

extension ChildProgram {
  /// Waits until a time of the hosts' clock, in milliseconds.
  static func sleep(until time: Double) async {
    try? await Task.sleep(for: .microseconds(Int64(max(0, (time - now) * 1e3))))
  }
}
