import CaromCore
import CaromDNS
import Testing

@Suite struct QuerierFuzzTests {
  /// A node that asks in every way there is.
  private func makeHub() -> Hub {
    var hub = Hub()
    hub.addNode("a", [Hub.makeAttachment(0, 2, 1, dualStack: true), Hub.makeAttachment(1, 3, 1)])
    var places = hub.nodes[0].attachments
    places[0].link.receivesUnicast = true
    hub.setLinks(0, places)
    hub.addNode(2)
    hub.publish(1)
    hub.with(0) { machine, now in
      for target: BrowseTarget in [
        .services(Hub.type), .subtype([97], of: Hub.type), .types(), .domains(.browsing),
      ] { _ = machine.browse(target, at: now) }
      for type in [RecordType.any, .srv, .nsec, .aaaa] {
        _ = machine.query(Hub.makeInstance(), type, at: now)
        _ = machine.query("host2.local", type, at: now)
      }
      _ = machine.monitorText(of: Hub.makeInstance(), at: now)
    }
    hub.run(for: .seconds(5))
    return hub
  }

  @Test func `no bytes trap a node with every kind of question open, and its tables agree`() throws
  {
    #if DEBUG
      let rounds = 500
    #else
      let rounds = 20_000
    #endif
    var generator = SeededGenerator(seed: 6762)
    var hub = makeHub()
    let seeds = hub.log.map(\.outgoing.payload)
    var standing: [QueryID: Int] = [:]
    for round in 0..<rounds {
      var bytes = seeds[Int.random(in: seeds.indices, using: &generator)]
      for _ in 0..<Int.random(in: 0...6, using: &generator) {
        bytes[Int.random(in: 2..<bytes.count, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      let host = UInt32.random(in: 1...20, using: &generator)
      hub.inject(
        bytes, from: Endpoint(.v4(0x0A00_0000 | host), port: 5353),
        to: generator.chance(0.2) ? Endpoint(.v4(0x0A00_0001), port: 5353) : MulticastGroup.v4,
        on: generator.chance(0.8) ? 0 : 1)
      hub.run(for: .milliseconds(Int64.random(in: 1...200, using: &generator)))
      if round % 7 == 0 { _ = hub.resolve(0, within: .milliseconds(50)) }
      if round % 50 == 0 { hub.with(0) { $0.reconfirm(Hub.makeInstance(), at: $1) } }
      count(hub.nodes[0].events.map(\.event), in: &standing)
      hub.log = []
      for node in hub.nodes.indices { hub.nodes[node].events = [] }
    }
    #expect(standing.values.allSatisfy { $0 >= 0 })
  }

  /// How many records each query was told of that are still there: never fewer than none.
  private func count(_ events: [MulticastDNS.Event], in standing: inout [QueryID: Int]) {
    for case .querier(let event) in events {
      switch event {
      case .recordAdded(let id, _, _): standing[id, default: 0] += 1
      case .recordRemoved(let id, _, _):
        standing[id, default: 0] -= 1
        #expect(standing[id, default: 0] >= 0)
      default: break
      }
    }
  }
}
