/// Browsing with an empty cache by a host that loses packets in both directions.
struct DiscoveryLoss: Sendable {
  let percent: Int
  let stack: NetworkLab.Stack
  let publisher: any DiscoverySubject.Type
  let browser: any DiscoverySubject.Type
  /// The number of samples taken in one lab, one after another.
  let samples: Int
  /// The longest time to wait for each sample.
  let limit: Duration

  /// Measures the milliseconds from each browse, with an empty cache, until the service is
  /// resolved. A value is `nan` if it took longer than the limit.
  func run() async throws -> [Double] {
    try await NetworkLab.with(hosts: 2, stack) { lab in
      let publisher = publisher.init(in: lab, host: "h1")
      let browser = browser.init(in: lab, host: "h2")
      try await publisher.prepare()
      try await browser.prepare()
      _ = try await publisher.publish("Lost")
      try await Task.sleep(for: .seconds(4))
      try await lab.change("lossy", "h2", "\(percent)")
      var times: [Double] = []
      for _ in 1...samples {
        let sighting = try await browser.browse()
        times.append(
          await sighting.time(of: .resolved, "Lost", since: sighting.begin, within: limit))
        try await browser.reset()
        // A responder does not multicast a record again within one second (RFC 6762 §6).
        try await Task.sleep(for: .milliseconds(1_200))
      }
      return times
    }
  }
}
