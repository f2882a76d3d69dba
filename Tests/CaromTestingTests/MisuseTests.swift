import CaromCore
import CaromTesting
import Testing

/// Preconditions that refuse invalid arguments.
@Suite struct MisuseTests {
  @Test func `a probability above 1 is refused`() async {
    await #expect(processExitsWith: .failure) { _ = LinkConditions(loss: 1.5) }
  }

  @Test func `a rate of zero is refused`() async {
    await #expect(processExitsWith: .failure) {
      var conditions = LinkConditions.lan
      conditions.rate = 0
      _ = VirtualNetwork(seed: 1, conditions: conditions)
    }
  }

  @Test func `a loss rate too high for the burst length is refused`() async {
    await #expect(processExitsWith: .failure) { _ = GilbertElliottLoss(loss: 0.9, length: 2) }
  }

  @Test func `a machine in two parts of a partition is refused`() async {
    await #expect(processExitsWith: .failure) {
      var network = VirtualNetwork(seed: 1)
      let host = network.addHost()
      network.partition([host], [host])
    }
  }
}
