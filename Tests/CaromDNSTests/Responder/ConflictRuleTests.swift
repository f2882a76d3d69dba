import CaromCore
import CaromDNS
import Testing

/// Which records of other hosts are conflicts (RFC 6762 §9).
@Suite struct ConflictRuleTests {
  /// A published service, long enough ago that every record may be sent.
  private func makeNetwork() -> (network: SimulatedNetwork, id: PublicationID) {
    var (network, id) = SimulatedNetwork.makePublished()
    network.run(for: .seconds(5))
    network.log = []
    return (network, id)
  }

  @Test(arguments: [(0, false), (2_990, false), (3_010, true)] as [(Int64, Bool)])
  func `R48: data that was replaced is no conflict for three seconds`(
    milliseconds: Int64, isConflict: Bool
  ) {
    var (network, id) = makeNetwork()
    network.update(0, id, text: ["seats": "2/2"])
    network.run(for: .milliseconds(milliseconds))
    network.log = []
    network.respond([SimulatedNetwork.makeText(["seats": "1/2"])])
    network.run(for: .seconds(2))
    #expect(network.probes(0).isEmpty != isConflict)
    // Nobody answers the probes, so that the name remains.
    #expect(network.names(0) == ["Maya's table"])
  }

  @Test func `R38 R48: records of other classes, denials and goodbyes are no conflict`() {
    var other = SimulatedNetwork.makeText(["seats": "9/9"])
    other.recordClass = 3
    for record in [
      other, SimulatedNetwork.makeText(["seats": "9/9"], life: 0),
      SimulatedNetwork.makeDenial(SimulatedNetwork.makeInstance(), has: [.srv]),
      // A type that the service does not have.
      Record(SimulatedNetwork.makeInstance(), .address(.v4(7)), timeToLive: 120),
    ] {
      var (network, _) = makeNetwork()
      network.respond([record])
      network.run(for: .seconds(2))
      #expect(network.probes(0).isEmpty && network.names(0) == ["Maya's table"])
    }
    var (network, _) = makeNetwork()
    network.respond([SimulatedNetwork.makeText(["seats": "9/9"])])
    network.run(for: .seconds(2))
    #expect(network.probes(0).count == 3)
  }

  @Test func `R41: a conflict among the additional records counts too`() {
    var (network, _) = makeNetwork()
    network.respond(
      [SimulatedNetwork.makePointer("other")],
      additionals: [SimulatedNetwork.makeServer(port: 9, host: "host9.local")])
    network.run(for: .seconds(2))
    #expect(network.probes(0).count == 3)
  }
}
