import CaromCore
import CaromTesting
import Testing

/// What makes no sense meets a precondition.
@Suite struct MisuseTests {
  @Test func `a chance above 1`() async {
    await #expect(processExitsWith: .failure) { _ = LinkConditions(loss: 1.5) }
  }

  @Test func `a rate of nothing`() async {
    await #expect(processExitsWith: .failure) {
      var conditions = LinkConditions.lan
      conditions.rate = 0
      _ = VirtualNetwork(seed: 1, conditions: conditions)
    }
  }

  @Test func `more loss than bursts of that length can make`() async {
    await #expect(processExitsWith: .failure) { _ = GilbertElliottLoss(loss: 0.9, length: 2) }
  }

  @Test func `a host in two parts`() async {
    await #expect(processExitsWith: .failure) {
      var network = VirtualNetwork(seed: 1)
      let host = network.addHost()
      network.partition([host], [host])
    }
  }
}
