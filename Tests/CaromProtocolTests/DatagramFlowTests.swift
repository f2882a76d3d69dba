import CaromCore
import CaromProtocol
import CaromTesting
import Testing

/// What a flow makes of a link: 20 Mbit/s, a round trip of 100 ms, 250 kB of queue.
@Suite struct DatagramFlowTests {
  #if DEBUG
    static let seconds = 6.0
  #else
    static let seconds = 20.0
  #endif

  @Test(arguments: [(0, 18.5, 1.06), (0.01, 18, 1.07), (0.05, 17, 1.12), (0.1, 15.5, 1.2)])
  func `a line that loses is filled all the same`(
    _ loss: Double, _ goodput: Double, _ wire: Double
  ) {
    var run = FlowRun(FlowRun.line(loss: loss))
    run.addFlow()
    run.run(to: Self.seconds)
    #expect(run.goodput(from: 2, to: Self.seconds) * 8 / 1e6 >= goodput)
    #expect(run.wireRatio() <= wire + (Self.seconds < 20 ? 0.1 : 0))
  }

  @Test func `every kind of network makes progress`() {
    for profile in LinkProfile.table {
      var run = FlowRun(profile)
      run.addFlow()
      run.run(to: profile.name == "lan" ? 1 : 5)
      #expect(run.goodput(from: 0, to: 5) > 5_000, "\(profile)")
    }
  }
}
