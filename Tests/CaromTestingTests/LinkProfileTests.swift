import CaromCore
import CaromTesting
import Testing

@Suite struct LinkProfileTests {
  @Test func `each profile has a unique name and unique conditions`() {
    #expect(LinkProfile.all.count == 16)
    #expect(Set(LinkProfile.all.map(\.name)).count == 16)
    #expect(Set(LinkProfile.all).count == 16)
    #expect(LinkProfile.all(named: "poor") == [LinkProfile("poor", .poor)])
    #expect(LinkProfile.all(named: nil) == LinkProfile.all)
  }

  @Test func `seeds are run with each profile, and a failure names both`() {
    var runs: [String] = []
    let rows = [LinkProfile("a", .lan), LinkProfile("b", .wifi)]
    let failure = SeedFailure(seed: 1, reason: "profile b: lost")
    #expect(throws: failure) {
      try Seeds(2).check(rows) { row, seed in
        runs.append("\(row)\(seed)")
        if runs.count == 4 { throw Unlikely("lost") }
      }
    }
    #expect(runs == ["a0", "a1", "b0", "b1"])
  }

  @Test func `asymmetric profiles apply their conditions in the right directions`() {
    var (network, a, b) = makePair()
    network.setProfile(LinkProfile.all(named: "lossy-acknowledgements")[0], from: a, to: b)
    let (there, back) = (network.bind(a, port: 9), network.bind(b, port: 9))
    for number in 0..<1_000 {
      network.advance(to: .zero + .milliseconds(100 * number))
      network.send([1], from: there, to: Endpoint(b.v4, port: 9))
      network.send([1], from: back, to: Endpoint(a.v4, port: 9))
      _ = events(of: &network, until: .zero + .milliseconds(100 * number + 99))
    }
    _ = events(of: &network)
    let lost = network.counters(from: b, to: a).dropped[.loss]
    #expect(isLikely(lost, of: 1_000, at: 0.2))
    #expect(network.counters(from: a, to: b).dropped[.loss] < 15)
  }

  /// Sends bulk data above the rate together with game traffic, with each profile.
  @Test func `all datagrams are accounted for, and no queue exceeds its limit`() throws {
    #if DEBUG
      let seeds = Seeds(1)
    #else
      let seeds = Seeds(8)
    #endif
    try seeds.check(LinkProfile.all) { row, seed in
      let flow = Flow(
        row.outbound, count: 3_000, every: .milliseconds(2), size: 1_200, seed: seed)
      let counters = flow.counters
      guard counters.sent + counters.duplicated == counters.delivered + counters.dropped.total
      else { throw Unlikely("\(counters)") }
      guard let rate = row.outbound.rate, case .time(let limit) = row.outbound.queue else {
        throw Unlikely("a row without a rate")
      }
      let bound = Int(limit.inMilliseconds * Double(rate) / 1_000) + 1_228
      guard counters.longestQueue <= bound else { throw Unlikely("\(counters)") }
      guard flow.network.counters.dropped == counters.dropped else { throw Unlikely("totals") }
    }
  }

  @Test func `each profile shows its impairment`() {
    func flow(_ row: String, size: Int = 1_000) -> LinkCounters {
      let conditions = LinkProfile.all(named: row)[0].outbound
      return Flow(conditions, count: 1_500, every: .milliseconds(10), size: size).counters
    }
    #expect(flow("lan").delivered == 1_500)
    #expect(flow("wifi").reordered > 0)
    #expect(flow("poor").duplicated > 0)
    #expect(flow("terrible").dropped[.queue] > 0)
    #expect(flow("soak").duplicated > 300)
    #expect(flow("burst-loss").dropped[.burst] > 0)
    #expect(flow("outages").dropped[.outage] == 300)
    #expect(flow("shrinking-mtu", size: 1_300).dropped[.tooLong] > 900)
    #expect(flow("satellite").dropped[.loss] > 0)
  }
}
