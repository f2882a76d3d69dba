import CaromCore
import CaromDNS
import Testing

/// Limits on the traffic that other hosts can make a responder send.
@Suite struct StormTests {
  #if DEBUG
    private let queries = 1000
    private let services = 300
  #else
    private let queries = 10_000
    private let services = 1000
  #endif

  /// Two nodes, each with two interfaces on one bridged link, after all announcements.
  private func makeBridged(services: Int = 5) -> SimulatedNetwork {
    var network = SimulatedNetwork()
    for node in 0..<2 {
      let attachments = [0, 1].map { index in
        SimulatedNetwork.makeAttachment(0, UInt32(2 + index), UInt8(1 + 2 * node + index))
      }
      network.addNode("host\(node)", attachments)
      for service in 0..<services { network.publish(node, "\(node) \(service)") }
    }
    network.run(for: .seconds(10))
    network.log = []
    return network
  }

  /// Runs until `end`. Another host sends each response again, with its records altered by
  /// `change`.
  private func run(
    _ network: inout SimulatedNetwork, to end: Instant, echoing change: (inout Record) -> Void
  ) {
    var seen = network.log.count
    while network.run(until: end, { $0.log.count > seen }) {
      let packet = network.log[seen]
      seen += 1
      guard packet.message.isResponse, packet.transmit.destination == MulticastGroup.v4 else {
        continue
      }
      var echo = packet.message
      for index in echo.answers.indices { change(&echo.answers[index]) }
      network.inject(echo, from: 66)
    }
    network.now = end
  }

  @Test func `ten thousand queries in a second cause few response packets`() {
    var network = makeBridged()
    let questions = [
      Question(SimulatedNetwork.type.name(), .ptr), Question("host0.local", .a, wantsUnicast: true),
      Question(SimulatedNetwork.makeInstance("1 3"), .any), Question("host1.local", .aaaa),
    ]
    var generator = SeededGenerator(seed: 3)
    for index in 0..<queries {
      let question = questions[Int.random(in: 0..<4, using: &generator)]
      let isLegacy = generator.chance(0.2)
      network.inject(
        SimulatedNetwork.makeQuery([question]), from: UInt8(100 + index % 100),
        port: isLegacy ? 4000 : 5353)
      network.run(for: .microseconds(Int64(1_000_000 / queries)))
    }
    network.run(for: .seconds(3))
    // Each of the four interfaces may send a burst and 125 packets a second, and one multicast of
    // each record a second.
    #expect(network.log.count <= 4 * (256 + 4 * 125))
    let multicasts = network.log.filter { $0.transmit.destination == MulticastGroup.v4 }
    #expect(multicasts.count <= 4 * 4 * 5)
    for node in 0..<2 {
      let counters = network.nodes[node].machine.responderCounters
      #expect(counters.examined <= 2 * 5 * queries)
    }
  }

  @Test func `echoed and altered responses cause few further packets`() {
    let changes: [(String, (inout Record) -> Void)] = [
      ("unchanged", { _ in }),
      ("with one second to live", { $0.timeToLive = 1 }),
      ("as goodbyes", { $0.timeToLive = 0 }),
      (
        "with other pointers",
        { if case .pointer = $0.data { $0.data = .pointer("other.name.local") } }
      ),
    ]
    for (what, change) in changes {
      var network = makeBridged()
      network.inject(
        SimulatedNetwork.makeQuery([Question(SimulatedNetwork.type.name(), .ptr)]), from: 99)
      run(&network, to: network.now + .seconds(10), echoing: change)
      // Each interface sends at most one multicast a second.
      #expect(network.log.count <= 4 * 11, "\(what)")
      #expect(Set(network.names(0)).count == 5, "\(what)")
    }
  }

  @Test func `an exhausted rate limit delays multicast answers without losing any`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    for index in 0..<400 { network.publish(0, "\(index)") }
    network.run(for: .seconds(5))
    network.log = []
    for index in 0..<400 {
      network.inject(
        SimulatedNetwork.makeQuery([Question(SimulatedNetwork.makeInstance("\(index)"), .srv)]),
        from: 9)
    }
    network.run(for: .milliseconds(1))
    #expect(network.log.count == 256)
    network.run(for: .seconds(2))
    #expect(Set(network.sentRecords(0).filter { $0.type == .srv }.map(\.name)).count == 400)
    #expect(network.log.count <= 400)
    #expect(network.nodes[0].machine.responderCounters.delayed >= 144)
  }

  @Test func `a storm of unicast questions leaves a part of the rate limit to multicasts`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    let service = Question(SimulatedNetwork.makeInstance(), .srv)
    for _ in 0..<400 { network.inject(SimulatedNetwork.makeQuery([service]), from: 9, port: 4000) }
    network.run(for: .milliseconds(1))
    #expect(network.log.count == 192)
    #expect(network.nodes[0].machine.responderCounters.withheld == 208)
    network.inject(SimulatedNetwork.makeQuery([service]), from: 9)
    network.run(for: .milliseconds(1))
    #expect(network.log.count == 193)
  }

  @Test func `with the rate limit exhausted, unicast questions are answered by one multicast`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    let question = Question(SimulatedNetwork.makeInstance(), .srv, wantsUnicast: true)
    for host in 0..<1000 {
      network.inject(SimulatedNetwork.makeQuery([question]), from: UInt8(2 + host % 250))
    }
    network.run(for: .seconds(2))
    let multicasts = network.log.filter { $0.transmit.destination == MulticastGroup.v4 }
    #expect(network.log.count - multicasts.count <= 200)
    #expect(multicasts.count == 1)
  }

  @Test func `the work for a question grows linearly with its answers`() {
    var examined: [Int] = []
    var packets: [Int] = []
    for count in [services / 10, services] {
      var network = SimulatedNetwork()
      network.addNode(1)
      for index in 0..<count { network.publish(0, "\(index)") }
      network.run(for: .seconds(8))
      #expect(network.names(0).count == count)
      let before = network.nodes[0].machine.responderCounters.examined
      packets.append(network.answers(to: [Question(SimulatedNetwork.type.name(), .ptr)]).count)
      examined.append(network.nodes[0].machine.responderCounters.examined - before)
    }
    #expect(examined == [services / 10, services])
    #expect(packets[1] <= 11 * packets[0])
  }

  @Test func `repeated questions in one message are examined once`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    for index in 0..<50 { network.publish(0, "\(index)") }
    network.run(for: .seconds(5))
    let question = Question(SimulatedNetwork.type.name(), .ptr)
    let before = network.nodes[0].machine.responderCounters.examined
    network.inject(SimulatedNetwork.makeQuery(Array(repeating: question, count: 500)), from: 9)
    network.run(for: .seconds(1))
    #expect(network.nodes[0].machine.responderCounters.examined - before == 50)
  }
}
