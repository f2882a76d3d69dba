/// Cold browsing by a host that misses packets, each way.
struct DiscoveryLoss: Sendable {
  let percent: Int
  let stack: DiscoveryLab.Stack
  let publisher: any DiscoverySubject.Type
  let browser: any DiscoverySubject.Type
  /// Browsings in a lab, one after the other.
  let samples: Int
  /// How long each is waited for.
  let patience: Duration

  /// Milliseconds from browsing to resolved, each without knowledge; `nan` where it took longer.
  func run() async throws -> [Double] {
    try await DiscoveryLab.with(hosts: 2, stack) { lab in
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
          await sighting.time(of: .resolved, "Lost", since: sighting.begin, within: patience))
        try await browser.forget()
        // What was multicast less than a second ago is not multicast again.
        try await Task.sleep(for: .milliseconds(1_200))
      }
      return times
    }
  }
}
