import CaromCore
import CaromDNS
import Testing

@Suite struct QuerierFuzzTests {
  /// A network whose first node runs every kind of request.
  private func makeNetwork() -> SimulatedNetwork {
    var network = SimulatedNetwork()
    network.addNode(
      "a",
      [
        SimulatedNetwork.makeAttachment(0, 2, 1, dualStack: true),
        SimulatedNetwork.makeAttachment(1, 3, 1),
      ])
    var attachments = network.nodes[0].attachments
    attachments[0].link.receivesUnicast = true
    network.setLinks(0, attachments)
    network.addNode(2)
    network.publish(1)
    network.with(0) { machine, now in
      for target: BrowseTarget in [
        .services(SimulatedNetwork.type), .subtype([97], of: SimulatedNetwork.type), .types(),
        .domains(.browsing),
      ] { _ = machine.browse(target, at: now) }
      for type in [RecordType.any, .srv, .nsec, .aaaa] {
        _ = machine.query(SimulatedNetwork.makeInstance(), type, at: now)
        _ = machine.query("host2.local", type, at: now)
      }
      _ = machine.monitorText(of: SimulatedNetwork.makeInstance(), at: now)
    }
    network.run(for: .seconds(5))
    return network
  }

  @Test func `mutated packets never trap a node with every kind of request running`() throws {
    #if DEBUG
      let rounds = 500
    #else
      let rounds = 20_000
    #endif
    var generator = SeededGenerator(seed: 6762)
    var network = makeNetwork()
    let seeds = network.log.map(\.transmit.payload)
    var presentRecords: [QueryID: Int] = [:]
    for round in 0..<rounds {
      var bytes = seeds[Int.random(in: seeds.indices, using: &generator)]
      for _ in 0..<Int.random(in: 0...6, using: &generator) {
        bytes[Int.random(in: 2..<bytes.count, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      let host = UInt32.random(in: 1...20, using: &generator)
      network.inject(
        bytes, from: Endpoint(.v4(0x0A00_0000 | host), port: 5353),
        to: generator.chance(0.2) ? Endpoint(.v4(0x0A00_0001), port: 5353) : MulticastGroup.v4,
        on: generator.chance(0.8) ? 0 : 1)
      network.run(for: .milliseconds(Int64.random(in: 1...200, using: &generator)))
      if round % 7 == 0 { _ = network.resolve(0, within: .milliseconds(50)) }
      if round % 50 == 0 {
        network.with(0) { $0.reconfirm(SimulatedNetwork.makeInstance(), at: $1) }
      }
      count(network.nodes[0].events.map(\.event), in: &presentRecords)
      network.log = []
      for node in network.nodes.indices { network.nodes[node].events = [] }
    }
    #expect(presentRecords.values.allSatisfy { $0 >= 0 })
  }

  /// Updates each query's number of present records, which must never be negative.
  private func count(_ events: [MulticastDNS.Event], in presentRecords: inout [QueryID: Int]) {
    for case .querier(let event) in events {
      switch event {
      case .recordAdded(let id, _, _): presentRecords[id, default: 0] += 1
      case .recordRemoved(let id, _, _):
        presentRecords[id, default: 0] -= 1
        #expect(presentRecords[id, default: 0] >= 0)
      default: break
      }
    }
  }
}
