import CaromCore
import CaromProtocol
import CaromTesting
import Testing

/// How well a flow uses a link. Unless stated otherwise, the link has 20 Mbit/s, a round trip of
/// 100 ms and a queue of 250 kB. Debug builds run for less time, at a fifth of the rate.
@Suite struct DatagramFlowTests {
  #if DEBUG
    static let isQuick = true
    static let slower = 5
    static let seeds: UInt64 = 1
  #else
    static let isQuick = false
    static let slower = 1
    static let seeds: UInt64 = 3
  #endif
  static let rate = 2_500_000 / Double(slower)

  func makeLine(loss: Double = 0) -> LinkConditions {
    FlowRun.line(loss: loss, slower: Self.slower)
  }

  @Test(arguments: [
    (0, 18.5, 1.06), (0.01, 18, 1.07), (0.05, 17, 1.12), (0.1, 15.5, 1.2), (0.2, 13, 1.35),
  ])
  func `a lossy link is filled nevertheless`(
    _ loss: Double, _ goodput: Double, _ wire: Double
  ) {
    for seed in 1...Self.seeds {
      var run = FlowRun(makeLine(loss: loss), seed: seed)
      run.addFlow()
      let (start, end) = Self.isQuick ? (1.0, 5.0) : (0, 20.0)
      run.run(to: end)
      #expect(run.goodput(from: start, to: end) / Self.rate >= goodput / 20)
      #expect(run.wireRatio() <= wire + (Self.isQuick ? 0.03 : 0))
      #expect(run.meanQueue(from: 0, to: end, rate: Self.rate) <= 0.05)
    }
  }

  /// The share of each link's rate that must arrive, after losses and headers.
  static let table: [(String, Double)] = [
    ("lan", 0.93), ("wifi", 0.75), ("good", 0.85), ("average", 0.8), ("mobile", 0.7),
    ("poor", 0.6), ("terrible", 0.5), ("reorder-storm", 0.8), ("soak", 0.004),
    ("satellite", 0.01), ("burst-loss", 0.6), ("bufferbloat", 0.9), ("outages", 0.6),
    ("rebinding", 0.85), ("shrinking-mtu", 0.85), ("lossy-acknowledgements", 0.85),
  ]

  @Test(arguments: table)
  func `every kind of network is used well`(_ name: String, _ share: Double) {
    let profile = LinkProfile.all(named: name)[0]
    for seed in 1...Self.seeds {
      var run = FlowRun(profile, seed: seed)
      run.addFlow()
      let isFast = name == "lan"
      let end = isFast ? 0.5 : Self.isQuick ? 2.0 : 12.0
      run.run(to: end)
      let wanted = share * Double(profile.outbound.rate ?? 1) * (Self.isQuick ? 0.5 : 1)
      #expect(run.goodput(from: isFast ? 0.2 : 1, to: end) >= wanted, "seed \(seed)")
    }
  }

  @Test func `equal seeds give identical runs`() {
    var runs = [0, 1].map { _ in FlowRun(LinkProfile.all(named: "mobile")[0], seed: 7) }
    for index in runs.indices {
      runs[index].addFlow()
      runs[index].run(to: 2)
    }
    #expect(runs[0].flow().statistics == runs[1].flow().statistics)
  }

  @Test func `a flow follows a rate that falls to a quarter and recovers`() {
    var run = FlowRun(makeLine())
    run.addFlow()
    run.run(to: 3)
    run.change(makeLine().with { $0.rate = Int(Self.rate / 4) })
    run.run(to: 8)
    run.change(makeLine())
    run.run(to: 11)
    #expect(run.goodput(from: 5.5, to: 8) >= 0.85 * Self.rate / 4)
    #expect(run.meanQueue(from: 5.5, to: 8, rate: Self.rate / 4) <= 0.06)
    #expect(run.goodput(from: 9.5, to: 11) >= 0.85 * Self.rate)
  }

  @Test func `two flows share a link fairly`() {
    var run = FlowRun(makeLine())
    run.addFlow()
    run.run(to: 2)
    run.addFlow()
    let (start, end) = Self.isQuick ? (5.0, 9.0) : (8.0, 30.0)
    run.run(to: end)
    let shares = [0, 1].map { run.goodput($0, from: start, to: end) }
    #expect(shares[0] / shares[1] < 2 && shares[1] / shares[0] < 2)
    #expect(shares[0] + shares[1] >= 0.9 * Self.rate)
    #expect(run.meanQueue(from: start, to: end, rate: Self.rate) <= 0.05)
  }

  #if !DEBUG
    @Test(arguments: [(62_500, 3.0), (250_000, 5.0), (1_000_000, 5.0)], [true, false])
    func `neither a flow nor TCP starves when they compete`(
      _ line: (queue: Int, least: Double), isFirst: Bool
    ) {
      var run = FlowRun(FlowRun.line().with { $0.queue = .bytes(line.queue) })
      if isFirst { run.addFlow() } else { run.addCubic() }
      run.run(to: 3)
      if isFirst { run.addCubic() } else { run.addFlow() }
      run.run(to: 45)
      for index in [0, 1] {
        #expect(run.goodput(index, from: 5, to: 45) * 8 / 1e6 >= line.least)
      }
    }
  #endif

  @Test func `a game continues beside bulk data on a terrible link and after a blackout`() {
    var run = FlowRun(LinkProfile.all(named: "terrible")[0])
    run.addFlow(bulk: true, game: true)
    run.run(to: 5)
    #expect(run.sender().gamesHeldUp <= 5)
    var dark = FlowRun(LinkConditions.outages.with { $0.rate = 200_000 })
    dark.addFlow(bulk: true, game: true)
    dark.run(to: 10)
    #expect(dark.flow().statistics.stalls == 1)
    #expect(dark.sender().gamesHeldUp <= 5)
    #expect(dark.goodput(from: 9, to: 10) > 100_000)
  }

  @Test func `a game alone causes no queue and no loss`() {
    var run = FlowRun(FlowRun.line())
    run.addFlow(bulk: false, game: true)
    run.run(to: 3)
    #expect(run.flow().statistics.packetsLost == 0 && run.sender().gamesHeldUp == 0)
    #expect(run.flow().queue < 2_000_000)
  }

  @Test func `a flow adopts the round trip of a path that became longer`() {
    var run = FlowRun(LinkConditions(oneWay: .milliseconds(10), rate: 250_000))
    run.addFlow(bulk: false, game: true)
    run.run(to: 2)
    #expect((20_000_000..<21_000_000).contains(run.flow().roundTrip.minimum))
    // From now on, the round trip takes 70 ms. The shorter one is trusted for 10 s.
    run.change(LinkConditions(oneWay: .milliseconds(60), rate: 250_000))
    run.run(to: 11)
    #expect(run.flow().queue >= 49_000_000)
    run.run(to: 14)
    #expect((70_000_000..<71_000_000).contains(run.flow().roundTrip.minimum))
    #expect(run.flow().queue < 1_000_000)
  }
}
