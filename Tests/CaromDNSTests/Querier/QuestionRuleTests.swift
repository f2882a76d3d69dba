import CaromCore
import CaromDNS
import Testing

/// Rules for when questions are asked, and for which responses are accepted.
@Suite struct QuestionRuleTests {
  private func gaps(_ times: [Instant]) -> [Int64] {
    zip(times, times.dropFirst()).map { ($1 - $0).components.seconds }
  }

  private func setReceivesUnicast(_ network: inout SimulatedNetwork, _ isEnabled: Bool) {
    var attachments = network.nodes[0].attachments
    attachments[0].link.receivesUnicast = isEnabled
    network.setLinks(0, attachments)
  }

  @Test func `R1: queries are sent to both groups of a dual-stack link`() {
    var network = SimulatedNetwork()
    network.addNode(1, dualStack: true)
    network.browse(0)
    network.run(for: .milliseconds(200))
    let v6 = IPAddress.v6(high: 0xFF02 << 48, low: 0xFB, scope: 2)
    #expect(
      network.log.map(\.transmit.destination) == [MulticastGroup.v4, Endpoint(v6, port: 5353)])
    #expect(network.log[0].transmit.payload == network.log[1].transmit.payload)
  }

  @Test func `R2: the first query is delayed by 20 to 120 ms, evenly distributed`() throws {
    var quarters = [0, 0, 0, 0]
    for seed in 1...80 as ClosedRange<UInt64> {
      var network = SimulatedNetwork.makeWithOneNode(seed: seed)
      network.run(for: .seconds(1))
      let start = network.now
      network.browse(0)
      network.run(for: .milliseconds(500))
      let wait = (try #require(network.log.first).at - start).inMilliseconds
      try #require(wait >= 20 && wait <= 120)
      quarters[min(3, Int((wait - 20) / 25))] += 1
    }
    #expect(quarters.allSatisfy { $0 >= 8 })
  }

  @Test func `R2: questions that start at about the same time share a packet`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0)
    _ = network.resolve(0)
    network.run(for: .milliseconds(200))
    #expect(network.log.count == 1)
    #expect(network.log[0].message.questions.map(\.key.type) == [.ptr, .srv, .txt])
  }

  @Test func `R3: query intervals double from one second to an hour until the browse stops`() {
    var network = SimulatedNetwork.makeWithOneNode()
    let id = network.browse(0)
    network.run(for: .seconds(2 * 3600 + 5000))
    #expect(
      gaps(network.log.map(\.at)) == [
        1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600,
      ])
    network.log = []
    network.with(0) { machine, _ in machine.stopBrowsing(id) }
    network.run(for: .seconds(10_000))
    #expect(network.log.isEmpty)
  }

  @Test func `R4: a wanted record is queried at 80, 85, 90 and 95 percent of its life`() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var network = SimulatedNetwork.makeWithOneNode(seed: seed)
      _ = network.with(0) { $0.query("host9.local", .a, at: $1) }
      network.run(for: .milliseconds(200))
      let start = network.now
      network.respond([SimulatedNetwork.makeAddress()])
      network.log = []
      network.run(for: .seconds(118))
      let parts = network.questions(0, .a).map { ($0.at - start).inMilliseconds / 1200 }
      try #require(parts.count == 4)
      for (part, point) in zip(parts, [80.0, 85, 90, 95]) {
        #expect(part >= point && part <= point + 2.01)
      }
    }
  }

  @Test func `R4: an unwanted record is not refreshed`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.respond([SimulatedNetwork.makeAddress(), SimulatedNetwork.makePointer()])
    network.run(for: .seconds(5000))
    #expect(network.log.isEmpty)
  }

  @Test func `R4: records that arrived together are refreshed together`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0)
    for index in 0..<30 {
      network.respond(
        [SimulatedNetwork.makePointer("\(index)")],
        additionals: [SimulatedNetwork.makeText([:], of: "\(index)")])
    }
    network.run(for: .seconds(3000))
    network.log = []
    network.run(for: .seconds(1400))
    #expect(network.questions(0, .txt).count == 4 * 30)
    #expect(network.log.count <= 20)
  }

  @Test func `R5: a unique answer suspends queries until 80 percent of its life`() throws {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.with(0) { $0.query("host9.local", .a, at: $1) }
    network.run(for: .milliseconds(200))
    network.respond([SimulatedNetwork.makeAddress()])
    network.log = []
    let start = network.now
    network.run(for: .seconds(100))
    let first = try #require(network.log.first?.at)
    #expect(first - start >= .seconds(95))
    #expect(network.log.count == 1)
  }

  @Test func `R3: a unique record that is wanted is queried for again after it has expired`() throws
  {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.with(0) { $0.query("host9.local", .a, at: $1) }
    network.run(for: .milliseconds(200))
    network.respond([SimulatedNetwork.makeAddress()])
    let removal = network.run(until: network.now.advanced(by: .seconds(121))) {
      $0.querierEvents(0).count == 2
    }
    #expect(removal)
    let last = try #require(network.questions(0, .a).last?.at)
    network.log = []
    network.run(for: .seconds(20))
    let times = network.questions(0, .a).map(\.at)
    #expect(try #require(times.first) - last == .seconds(15))
    #expect(gaps(times) == [1, 2, 4])
  }

  @Test func `R5: a cached unique answer makes the query unnecessary`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.respond([SimulatedNetwork.makeAddress()])
    _ = network.with(0) { $0.query("host9.local", .a, at: $1) }
    network.run(for: .seconds(90))
    #expect(network.log.isEmpty)
  }

  @Test func `R6: only the first query asks for a unicast response`() {
    var network = SimulatedNetwork.makeWithOneNode()
    setReceivesUnicast(&network, true)
    network.browse(0)
    network.run(for: .seconds(10))
    #expect(network.questions(0, .ptr).map(\.question.wantsUnicast) == [true, false, false, false])
    network.log = []
    let end = network.now.advanced(by: .seconds(10))
    network.with(0) { $0.restartQuestions(on: 2, at: $1) }
    network.run(for: end - network.now)
    #expect(network.questions(0, .ptr).map(\.question.wantsUnicast) == [true, false, false, false])
  }

  @Test func `R7: unicast responses are requested only while they reach this process`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0)
    network.run(for: .seconds(2))
    setReceivesUnicast(&network, true)
    network.browse(0, .types())
    network.run(for: .seconds(1))
    setReceivesUnicast(&network, false)
    network.browse(0, .domains(.browsing))
    network.run(for: .seconds(1))
    let wants = Dictionary(
      network.questions(0, .ptr).map { ($0.question.key.name, $0.question.wantsUnicast) },
      uniquingKeysWith: { first, _ in first })
    #expect(wants[SimulatedNetwork.type.name()] == false)
    #expect(wants["_services._dns-sd._udp.local"] == true)
    #expect(wants["b._dns-sd._udp.local"] == false)
  }

  @Test func `R7: each link decides for itself whether unicast responses are requested`() {
    var network = SimulatedNetwork()
    var attachments = [
      SimulatedNetwork.makeAttachment(0, 2, 1), SimulatedNetwork.makeAttachment(1, 3, 1),
    ]
    attachments[1].link.receivesUnicast = true
    network.addNode("a", attachments)
    network.browse(0)
    network.run(for: .milliseconds(200))
    #expect(network.log.map { $0.message.questions[0].wantsUnicast } == [false, true])
  }

  @Test(arguments: [0, 7, 0xFFFF] as [UInt16])
  func `R9: every response is used, whatever its ID and even if another host asked`(id: UInt16) {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0)
    var message = Message(id: id, isResponse: true)
    message.answers = [SimulatedNetwork.makePointer()]
    network.inject(message, from: 9)
    network.run(for: .milliseconds(1))
    #expect(network.changes(0) == ["+Maya's table"])
  }

  /// Sends a unicast response to the first node, `delay` after the node's query.
  private func unicast(
    _ network: inout SimulatedNetwork, _ answers: [Record], from source: UInt32,
    after delay: Duration
  ) {
    setReceivesUnicast(&network, true)
    network.browse(0)
    _ = network.run(until: network.now.advanced(by: .seconds(1))) { !$0.log.isEmpty }
    network.run(for: delay)
    var message = Message(isResponse: true)
    message.answers = answers
    network.inject(
      message.encoded(), from: Endpoint(.v4(source), port: 5353),
      to: Endpoint(.v4(0x0A00_0001), port: 5353))
    network.run(for: .milliseconds(1))
  }

  @Test func `R10 R59: a unicast response counts for two seconds, if it is on-link and answers us`()
  {
    let here: UInt32 = 0x0A00_0009
    let cases: [(answer: Record, source: UInt32, delay: Int64, counts: Bool)] = [
      (SimulatedNetwork.makePointer(), here, 1900, true),
      (SimulatedNetwork.makePointer(), here, 2100, false),
      (SimulatedNetwork.makePointer(), 0x0B00_0009, 100, false),
      (SimulatedNetwork.makeText([:]), here, 100, false),
    ]
    for (answer, source, delay, counts) in cases {
      var network = SimulatedNetwork.makeWithOneNode()
      unicast(
        &network, [answer, SimulatedNetwork.makeAddress()], from: source,
        after: .milliseconds(delay))
      #expect(
        network.nodes[0].machine.cachedRecords("host9.local", .a, at: network.now).count
          == (counts ? 1 : 0)
      )
    }
  }

  @Test(arguments: [[RecordType.a], [.a, .aaaa]])
  func `R10 R21: a denial of the queried type counts as a unicast answer`(present: [RecordType]) {
    var network = SimulatedNetwork.makeWithOneNode()
    setReceivesUnicast(&network, true)
    _ = network.with(0) { $0.query("host9.local", .aaaa, at: $1) }
    network.run(for: .milliseconds(200))
    let message = SimulatedNetwork.makeResponse([
      SimulatedNetwork.makeDenial("host9.local", has: present)
    ])
    network.inject(
      message.encoded(), from: Endpoint(.v4(0x0A00_0009), port: 5353),
      to: Endpoint(.v4(0x0A00_0001), port: 5353))
    network.run(for: .milliseconds(1))
    #expect(network.querierEvents(0).count == (present.contains(.aaaa) ? 0 : 1))
  }

  @Test func `R10: an unrequested unicast response is ignored`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0)
    network.run(for: .milliseconds(200))
    var message = Message(isResponse: true)
    message.answers = [SimulatedNetwork.makePointer()]
    network.inject(
      message.encoded(), from: Endpoint(.v4(0x0A00_0009), port: 5353),
      to: Endpoint(.v4(0x0A00_0001), port: 5353))
    network.run(for: .milliseconds(10))
    #expect(network.changes(0).isEmpty)
  }

  @Test func `R59: a multicast response is used whatever its source address`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0)
    var message = Message(isResponse: true)
    message.answers = [SimulatedNetwork.makePointer()]
    network.inject(message.encoded(), from: Endpoint(.v4(0x0B00_0009), port: 5353))
    network.run(for: .milliseconds(1))
    #expect(network.changes(0) == ["+Maya's table"])
  }

  @Test func `R17: a response from a port other than 5353 is ignored by the querier`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0)
    var message = Message(isResponse: true)
    message.answers = [SimulatedNetwork.makePointer()]
    network.inject(message, from: 9, port: 5354)
    network.run(for: .milliseconds(1))
    #expect(network.changes(0).isEmpty)
    #expect(network.nodes[0].machine.counters.foreignPort == 1)
  }
}
