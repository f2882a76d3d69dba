import CaromCore
import CaromDNS
import Testing

@Suite struct AnswerTests {
  private let type = Question(SimulatedNetwork.type.name(), .ptr)
  private let service = Question(SimulatedNetwork.makeInstance(), .srv)
  private let types = Question("_services._dns-sd._udp.local", .ptr)

  private func makePointer(_ life: UInt32 = 4500) -> Record {
    Record(
      SimulatedNetwork.type.name(), .pointer(SimulatedNetwork.makeInstance()), timeToLive: life)
  }

  @Test func `R8: several questions in one message are answered together after 20 to 120 ms`()
    throws
  {
    var (network, _) = SimulatedNetwork.makePublished()
    let start = network.now
    let host = Question("host1.local", .a)
    let answers = network.answers(to: [service, host, types, Question("nobody.local", .a)])
    let records = answers.flatMap(\.message.answers)
    #expect(Set(records.map(\.type)) == [.srv, .a, .ptr])
    #expect(answers.count == 1)
    let wait = try #require(answers.first).at - start - network.delay
    #expect((.milliseconds(20) ... .milliseconds(120)).contains(wait))
    network.run(for: .seconds(2))
    let again = network.now
    let unique = try #require(network.answers(to: [service, host]).first)
    #expect(unique.at - again >= .milliseconds(20))
  }

  @Test func `R12: only our own records are sent as answers`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    network.publish(0)
    network.publish(1, "Leo's table")
    network.browse(0)
    network.run(for: .seconds(5))
    let records = network.answers(to: [type]).flatMap {
      $0.message.answers + $0.message.additionals
    }
    #expect(records.contains { $0.data == .pointer(SimulatedNetwork.makeInstance()) })
    #expect(!records.contains { $0.data == .pointer(SimulatedNetwork.makeInstance("Leo's table")) })
    #expect(network.answers(to: [Question("host2.local", .a)]).isEmpty)
  }

  @Test func `R14: unique answers are sent within 10 ms`() throws {
    var (network, _) = SimulatedNetwork.makePublished()
    for question in [
      service, Question(SimulatedNetwork.makeInstance(), .txt), Question("host1.local", .a),
    ] {
      let start = network.now
      let answer = try #require(network.answers(to: [question]).first)
      #expect(answer.at - start <= .milliseconds(10))
      network.run(for: .seconds(2))
    }
  }

  @Test func `R15: a record is not repeated as an additional within a second`() throws {
    var (network, _) = SimulatedNetwork.makePublished()
    _ = network.answers(to: [Question("host1.local", .a)])
    network.log = []
    network.inject(SimulatedNetwork.makeQuery([service]), from: 9)
    network.run(for: .milliseconds(50))
    #expect(network.sentRecords(0).map(\.type) == [.srv])
    network.run(for: .seconds(1))
    #expect(network.answers(to: [Question(SimulatedNetwork.makeInstance(), .txt)]).count == 1)
    network.run(for: .seconds(1))
    #expect(network.answers(to: [service])[0].message.additionals.map(\.type) == [.a, .nsec])
  }

  @Test func `R16: responses are sent to the groups with AA, ID 0 and no question`() throws {
    var (network, _) = SimulatedNetwork.makePublished(dualStack: true)
    var query = SimulatedNetwork.makeQuery([service])
    query.id = 4711
    network.log = []
    network.inject(query, from: 9)
    network.run(for: .seconds(1))
    #expect(
      Set(network.packets(0, responses: true).map(\.transmit.destination))
        == [MulticastGroup.v4, Endpoint(MulticastGroup.v6.address.scoped(to: 2), port: 5353)])
    for packet in network.packets(0, responses: true) {
      #expect(packet.message.id == 0 && packet.message.flags == 0x8400)
      #expect(packet.message.questions.isEmpty)
    }
  }

  @Test func `R17: a response from a port other than 5353 is ignored by the responder`() {
    var (network, _) = SimulatedNetwork.makePublished()
    let other = RecordData.service(priority: 0, weight: 0, port: 1, target: "x.local")
    let claim = SimulatedNetwork.makeResponse([
      Record(SimulatedNetwork.makeInstance(), other, timeToLive: 120, flushesCache: true)
    ])
    network.log = []
    network.inject(claim, from: 66, port: 5354)
    network.run(for: .seconds(2))
    #expect(network.log.isEmpty)
    #expect(network.nodes[0].machine.counters.foreignPort == 1)
    network.inject(claim, from: 66)
    network.run(for: .seconds(2))
    #expect(network.probes(0).count == 3)
  }

  /// The delay of each answer to a question for unicast responses, in milliseconds.
  private func unicastWaits(_ questions: [Question], count: Int) -> [Double] {
    var (network, _) = SimulatedNetwork.makePublished()
    return (0..<count).map { _ in
      let start = network.now + network.delay
      let answers = network.answers(
        to: questions.map { Question($0.key.name, $0.key.type, wantsUnicast: true) })
      guard answers.count == 1, !answers[0].transmit.destination.address.isMulticast else {
        return -1
      }
      return (answers[0].at - start).inMilliseconds
    }
  }

  @Test func `R13 R18: shared answers by unicast are delayed by 20 to 120 ms`() {
    for questions in [[type], [types], [service, Question("host1.local", .a)]] {
      let waits = unicastWaits(questions, count: 20)
      #expect(waits.allSatisfy { $0 >= 20 && $0 <= 120 })
      #expect(Set(waits).count >= 10)
    }
  }

  @Test func `R14 R18: unique answers by unicast are sent at once`() {
    #expect(unicastWaits([service], count: 20).allSatisfy { (0...10).contains($0) })
  }

  @Test func `R13: a query that was sent to this host alone is answered at once`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    network.inject(
      SimulatedNetwork.makeQuery([type]).encoded(),
      from: Endpoint(.v4(0x0A00_0009), port: 5353), to: Endpoint(.v4(0x0A00_0001), port: 5353))
    network.run(for: .milliseconds(1))
    #expect(network.log.count == 1)
  }

  @Test func `R18: unicast questions of one querier within the delay are answered together`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    for question in [type, types] {
      network.inject(
        SimulatedNetwork.makeQuery([
          Question(question.key.name, question.key.type, wantsUnicast: true)
        ]), from: 9)
      network.run(for: .milliseconds(5))
    }
    network.run(for: .seconds(1))
    #expect(network.log.count == 1)
    #expect(network.log.flatMap(\.message.answers).count == 2)
  }

  @Test func `R13 R19: of a thousand queriers, only some wait for a unicast answer`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    let question = Question(type.key.name, .ptr, wantsUnicast: true)
    for host in 0..<1000 as Range<UInt32> {
      network.inject(
        SimulatedNetwork.makeQuery([question]).encoded(),
        from: Endpoint(.v6(high: 0xFE80 << 48, low: UInt64(host), scope: 2), port: 5353))
    }
    network.run(for: .seconds(2))
    let multicasts = network.log.filter { $0.transmit.destination == MulticastGroup.v4 }
    #expect(network.log.count - multicasts.count <= 256)
    #expect((1...2).contains(multicasts.count))
  }

  @Test func `R18: a unicast question from another subnet is answered by multicast`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    let question = Question(SimulatedNetwork.makeInstance(), .srv, wantsUnicast: true)
    network.inject(
      SimulatedNetwork.makeQuery([question]).encoded(), from: Endpoint(.v4(0x0B00_0001), port: 5353)
    )
    network.run(for: .seconds(2))
    #expect(network.log.map(\.transmit.destination) == [MulticastGroup.v4])
  }

  @Test func `R19: a unicast query from another subnet is ignored`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    for port in [5353, 40_000] as [UInt16] {
      network.inject(
        SimulatedNetwork.makeQuery([service]).encoded(),
        from: Endpoint(.v4(0x0B00_0001), port: port),
        to: Endpoint(.v4(0x0A00_0001), port: 5353))
    }
    // A multicast legacy query from another subnet is ignored as well.
    network.inject(
      SimulatedNetwork.makeQuery([service]).encoded(), from: Endpoint(.v4(0x0B00_0001), port: 4000))
    network.run(for: .seconds(2))
    #expect(network.log.isEmpty)
    #expect(network.nodes[0].machine.responderCounters.offLink == 3)
  }

  @Test func `R59: a unicast response must come from the link, and a multicast one need not`() {
    let data = RecordData.service(priority: 0, weight: 0, port: 1, target: "x.local")
    let claim = SimulatedNetwork.makeResponse([
      Record(SimulatedNetwork.makeInstance(), data, timeToLive: 120, flushesCache: true)
    ])
    let own = Endpoint(.v4(0x0A00_0001), port: 5353)
    for (source, destination, count) in [
      (0x0B00_0001, own, 0), (0x0A00_0042, own, 3), (0x0B00_0001, MulticastGroup.v4, 3),
    ] as [(UInt32, Endpoint, Int)] {
      var (network, _) = SimulatedNetwork.makePublished()
      network.log = []
      network.inject(claim.encoded(), from: Endpoint(.v4(source), port: 5353), to: destination)
      network.run(for: .seconds(2))
      #expect(network.probes(0).count == count)
    }
  }

  @Test func `R22 R23: an address answer has all addresses of its link and no others`() throws {
    var network = SimulatedNetwork()
    network.addNode(
      "host",
      [
        SimulatedNetwork.makeAttachment(0, 2, 1, dualStack: true),
        SimulatedNetwork.makeAttachment(1, 3, 7),
      ])
    network.publish(0)
    network.run(for: .seconds(5))
    let packets = network.answers(to: [Question("host.local", .a)])
    let answer = try #require(packets.first { $0.transmit.destination == MulticastGroup.v4 })
    #expect(answer.message.answers.map(\.data) == [.address(.v4(0x0A00_0001))])
    #expect(
      answer.message.additionals.map(\.data)
        == [.address(.v6(high: 0xFE80 << 48, low: 1, scope: 0))])
    network.log = []
    network.inject(
      SimulatedNetwork.makeQuery([Question("host.local", .a)]).encoded(),
      from: Endpoint(.v4(0x0A00_0109), port: 5353), on: 1)
    network.run(for: .seconds(1))
    let other = try #require(network.log.first).message
    #expect(other.answers.map(\.data) == [.address(.v4(0x0A00_0107))])
    #expect(other.additionals.map(\.data) == [.types(next: "host.local", [.a])])
  }

  @Test func `R23: an AAAA answer carries the A records as additionals`() throws {
    var (network, _) = SimulatedNetwork.makePublished(dualStack: true)
    let answer = try #require(network.answers(to: [Question("host1.local", .aaaa)]).first).message
    #expect(answer.answers.map(\.type) == [.aaaa])
    #expect(answer.additionals.map(\.type) == [.a])
  }

  @Test func `R24: answers due at different times share one message`() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var (network, _) = SimulatedNetwork.makePublished(seed)
      network.publish(0, "B", port: 8888)
      network.run(for: .seconds(5))
      network.log = []
      let start = network.now
      network.inject(SimulatedNetwork.makeQuery([type]), from: 8)
      network.run(for: .milliseconds(19))
      network.inject(SimulatedNetwork.makeQuery([types]), from: 9)
      network.run(for: .seconds(1))
      let answers = network.packets(0, responses: true)
      try #require(answers.count == 1)
      #expect(Set(answers[0].message.answers.map(\.name)).count == 2)
      #expect(answers[0].at - start <= .milliseconds(620))
    }
  }

  @Test func `R26: a record repeated with too short a life is corrected`() {
    for (life, count) in [(59, 1), (60, 0), (120, 0)] as [(UInt32, Int)] {
      var (network, _) = SimulatedNetwork.makePublished()
      network.log = []
      let data = RecordData.address(.v4(0x0A00_0001))
      network.inject(
        SimulatedNetwork.makeResponse([
          Record("host1.local", data, timeToLive: life, flushesCache: true)
        ]),
        from: 9)
      network.run(for: .milliseconds(900))
      #expect(network.packets(0, responses: true).count == count)
      #expect(network.sentRecords(0).allSatisfy { $0.timeToLive == 120 })
    }
  }

  @Test func `R35: another host's equal answer suppresses ours`() {
    for (life, count) in [(4500, 0), (4499, 1)] as [(UInt32, Int)] {
      var (network, _) = SimulatedNetwork.makePublished()
      network.log = []
      network.inject(SimulatedNetwork.makeQuery([type]), from: 8)
      network.run(for: .milliseconds(10))
      network.inject(SimulatedNetwork.makeResponse([makePointer(life)]), from: 9)
      network.run(for: .milliseconds(600))
      #expect(network.packets(0, responses: true).count == count)
    }
  }

  @Test func `R54: a unique set is sent whole even if a part of it is known`() throws {
    var (network, _) = SimulatedNetwork.makePublished()
    let second = Link.Address(.v4(0x0A00_0063), prefixLength: 24)
    var attachment = SimulatedNetwork.makeAttachment(0, 2, 1)
    attachment.link.addresses.append(second)
    network.setLinks(0, [attachment])
    network.run(for: .seconds(5))
    let known = [0x0A00_0001, 0x0A00_0063].map {
      Record("host1.local", .address(.v4($0)), timeToLive: 120)
    }
    let question = Question("host1.local", .a)
    let answers = network.answers(to: [question], known: [known[0]]).flatMap(\.message.answers)
    #expect(answers.map(\.data) == known.map(\.data))
    #expect(answers.allSatisfy { $0.flushesCache })
    network.run(for: .seconds(2))
    #expect(network.answers(to: [question], known: known).isEmpty)
  }

  @Test func `R54: a unique set is corrected whole and added whole to unicast answers`() throws {
    var (network, _) = SimulatedNetwork.makePublished()
    var attachment = SimulatedNetwork.makeAttachment(0, 2, 1)
    attachment.link.addresses.append(Link.Address(.v4(0x0A00_0063), prefixLength: 24))
    network.setLinks(0, [attachment])
    network.run(for: .seconds(5))
    let known = Record("host1.local", .address(.v4(0x0A00_0001)), timeToLive: 120)
    network.log = []
    var goodbye = known
    goodbye.timeToLive = 0
    network.inject(SimulatedNetwork.makeResponse([goodbye]), from: 9)
    network.run(for: .milliseconds(200))
    #expect(network.packets(0, responses: true).map(\.message.answers.count) == [2])
    let question = Question(SimulatedNetwork.makeInstance(), .srv, wantsUnicast: true)
    let answer = try #require(network.answers(to: [question], known: [known]).first)
    #expect(answer.transmit.destination != MulticastGroup.v4)
    #expect(answer.message.additionals.map(\.type) == [.a, .a, .nsec])
  }

  @Test func `R54: shared, probed, known and legacy records have no cache-flush bit`() {
    var (network, _) = SimulatedNetwork.makePublished()
    #expect(network.probes(0).flatMap(\.message.authorities).allSatisfy { !$0.flushesCache })
    for record in network.sentRecords(0) { #expect(record.flushesCache == (record.type != .ptr)) }
    let legacy = network.answers(to: [service], port: 4000)
    #expect(legacy.count == 1)
    #expect(network.sentRecords(0).allSatisfy { !$0.flushesCache })
  }
}
