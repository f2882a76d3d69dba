import CaromCore
import CaromProtocol
import CaromTesting
import Testing

/// The search for the path MTU, and the reaction to a path whose MTU shrinks.
@Suite struct PathMTUTests {
  @Test(arguments: ["lan", "good", "average", "mobile", "poor", "terrible", "satellite"])
  func `the length of Ethernet is found within five seconds`(_ name: String) throws {
    for (bulk, game) in [(true, false), (false, true)] {
      var run = FlowRun(LinkProfile.all(named: name)[0])
      run.addFlow(bulk: bulk, game: game)
      for step in 1...20 where run.sender().largestSizeTime == nil {
        run.run(to: Double(step) * (name == "lan" ? 0.01 : 0.25))
      }
      #expect(run.sender().largestSizeTime != nil)
    }
  }

  @Test(arguments: [(1_500, 1_472), (1_492, 1_464), (1_420, 1_392), (1_280, 1_252), (1_250, 1_200)])
  func `the length of a tunnel is found too`(_ packet: Int, _ size: Int) {
    var run = FlowRun(
      LinkConditions(oneWay: .milliseconds(10), rate: 100_000).with {
        $0.mtu = PathMTU(packet)
      })
    run.addFlow()
    run.run(to: 5)
    #expect(run.flow().packetSize == size)
    #expect(run.goodput(from: 1, to: 5) > 80_000)
  }

  @Test func `no probe exceeds the interface's length`() {
    var run = FlowRun(LinkConditions(oneWay: .milliseconds(10), rate: 100_000))
    run.addFlow(maximumPayload: 1_452)
    run.run(to: 2)
    #expect(run.flow().packetSize == 1_452)
  }

  @Test(arguments: [(true, false), (true, true), (false, true)])
  func `a flow leaves a black hole at once and continues`(bulk: Bool, game: Bool) {
    let wide = LinkConditions(oneWay: .milliseconds(25), rate: 100_000, loss: 0.01)
    var run = FlowRun(wide)
    run.addFlow(bulk: bulk, game: game)
    run.run(to: 2)
    #expect(run.flow().packetSize == 1_472)
    run.change(wide.with { $0.mtu = 1_260 })
    // Packets in flight still arrive, followed by three timeouts of two round trips each.
    run.run(to: 2 + 7 * Double(run.flow().roundTrip.smoothed) / 1e9 + 0.075)
    if bulk {
      #expect(run.flow().packetSize == 1_200)
      run.run(to: 5)
      #expect(run.goodput(from: 3, to: 5) > 70_000)
    }
    run.run(to: 12)
    #expect(run.flow().packetSize <= 1_232 || !bulk)
  }
}
