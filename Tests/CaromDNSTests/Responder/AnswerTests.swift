import CaromCore
import CaromDNS
import Testing

@Suite struct AnswerTests {
  private let type = Question(Hub.type.name(), .ptr)
  private let service = Question(Hub.makeInstance(), .srv)
  private let types = Question("_services._dns-sd._udp.local", .ptr)

  private func makePointer(_ life: UInt32 = 4500) -> Record {
    Record(Hub.type.name(), .pointer(Hub.makeInstance()), timeToLive: life)
  }

  @Test func `R8: of several questions each is answered, after 20 to 120 ms`() throws {
    var (hub, _) = Hub.makePublished()
    let start = hub.now
    let host = Question("host1.local", .a)
    let answers = hub.answers(to: [service, host, types, Question("nobody.local", .a)])
    let records = answers.flatMap(\.message.answers)
    #expect(Set(records.map(\.type)) == [.srv, .a, .ptr])
    #expect(answers.count == 1)
    let wait = try #require(answers.first).at - start - hub.delay
    #expect((.milliseconds(20) ... .milliseconds(120)).contains(wait))
    hub.run(for: .seconds(2))
    let again = hub.now
    let unique = try #require(hub.answers(to: [service, host]).first)
    #expect(unique.at - again >= .milliseconds(20))
  }

  @Test func `R12: only own records are said, never those of others`() {
    var hub = Hub()
    hub.addNode(1)
    hub.addNode(2)
    hub.publish(0)
    hub.publish(1, "Leo's table")
    hub.browse(0)
    hub.run(for: .seconds(5))
    let records = hub.answers(to: [type]).flatMap { $0.message.answers + $0.message.additionals }
    #expect(records.contains { $0.data == .pointer(Hub.makeInstance()) })
    #expect(!records.contains { $0.data == .pointer(Hub.makeInstance("Leo's table")) })
    #expect(hub.answers(to: [Question("host2.local", .a)]).isEmpty)
  }

  @Test func `R14: unique answers come within 10 ms, whoever else asks`() throws {
    var (hub, _) = Hub.makePublished()
    for question in [service, Question(Hub.makeInstance(), .txt), Question("host1.local", .a)] {
      let start = hub.now
      let answer = try #require(hub.answers(to: [question]).first)
      #expect(answer.at - start <= .milliseconds(10))
      hub.run(for: .seconds(2))
    }
  }

  @Test func `R15: nor is it said again as an additional within a second`() throws {
    var (hub, _) = Hub.makePublished()
    _ = hub.answers(to: [Question("host1.local", .a)])
    hub.log = []
    hub.inject(Hub.makeQuery([service]), from: 9)
    hub.run(for: .milliseconds(50))
    #expect(hub.said(0).map(\.type) == [.srv])
    hub.run(for: .seconds(1))
    #expect(hub.answers(to: [Question(Hub.makeInstance(), .txt)]).count == 1)
    hub.run(for: .seconds(1))
    #expect(hub.answers(to: [service])[0].message.additionals.map(\.type) == [.a, .nsec])
  }

  @Test func `R16: responses go from 5353 to the group, with AA, ID 0 and no question`() throws {
    var (hub, _) = Hub.makePublished(dualStack: true)
    var query = Hub.makeQuery([service])
    query.id = 4711
    hub.log = []
    hub.inject(query, from: 9)
    hub.run(for: .seconds(1))
    #expect(
      Set(hub.packets(0, responses: true).map(\.outgoing.destination))
        == [MulticastGroup.v4, Endpoint(MulticastGroup.v6.address.scoped(to: 2), port: 5353)])
    for packet in hub.packets(0, responses: true) {
      #expect(packet.message.id == 0 && packet.message.flags == 0x8400)
      #expect(packet.message.questions.isEmpty)
    }
  }

  @Test func `R17: a response from a port other than 5353 is ignored`() {
    var (hub, _) = Hub.makePublished()
    let other = RecordData.service(priority: 0, weight: 0, port: 1, target: "x.local")
    let claim = Hub.makeResponse([
      Record(Hub.makeInstance(), other, timeToLive: 120, flushesCache: true)
    ])
    hub.log = []
    hub.inject(claim, from: 66, port: 5354)
    hub.run(for: .seconds(2))
    #expect(hub.log.isEmpty)
    #expect(hub.nodes[0].machine.counters.foreignPort == 1)
    hub.inject(claim, from: 66)
    hub.run(for: .seconds(2))
    #expect(hub.probes(0).count == 3)
  }

  @Test func `R18: who asks from another subnet gets a multicast`() {
    var (hub, _) = Hub.makePublished()
    hub.log = []
    let question = Question(Hub.makeInstance(), .srv, wantsUnicast: true)
    hub.inject(
      Hub.makeQuery([question]).encoded(), from: Endpoint(.v4(0x0B00_0001), port: 5353))
    hub.run(for: .seconds(2))
    #expect(hub.log.map(\.outgoing.destination) == [MulticastGroup.v4])
  }

  @Test func `R19: whoever asks us alone from another subnet gets nothing`() {
    var (hub, _) = Hub.makePublished()
    hub.log = []
    for port in [5353, 40_000] as [UInt16] {
      hub.inject(
        Hub.makeQuery([service]).encoded(), from: Endpoint(.v4(0x0B00_0001), port: port),
        to: Endpoint(.v4(0x0A00_0001), port: 5353))
    }
    // Multicast from a port that wants a unicast answer is no better.
    hub.inject(Hub.makeQuery([service]).encoded(), from: Endpoint(.v4(0x0B00_0001), port: 4000))
    hub.run(for: .seconds(2))
    #expect(hub.log.isEmpty)
    #expect(hub.nodes[0].machine.responderCounters.offLink == 3)
  }

  @Test func `R59: a unicast response counts from the link alone, a multicast from anywhere`() {
    let data = RecordData.service(priority: 0, weight: 0, port: 1, target: "x.local")
    let claim = Hub.makeResponse([
      Record(Hub.makeInstance(), data, timeToLive: 120, flushesCache: true)
    ])
    let own = Endpoint(.v4(0x0A00_0001), port: 5353)
    for (source, destination, count) in [
      (0x0B00_0001, own, 0), (0x0A00_0042, own, 3), (0x0B00_0001, MulticastGroup.v4, 3),
    ] as [(UInt32, Endpoint, Int)] {
      var (hub, _) = Hub.makePublished()
      hub.log = []
      hub.inject(claim.encoded(), from: Endpoint(.v4(source), port: 5353), to: destination)
      hub.run(for: .seconds(2))
      #expect(hub.probes(0).count == count)
    }
  }

  @Test func `R22 R23: an address answer has all addresses of its link, and no others`() throws {
    var hub = Hub()
    hub.addNode(
      "host",
      [
        Hub.makeAttachment(0, 2, 1, dualStack: true), Hub.makeAttachment(1, 3, 7),
      ])
    hub.publish(0)
    hub.run(for: .seconds(5))
    let packets = hub.answers(to: [Question("host.local", .a)])
    let answer = try #require(packets.first { $0.outgoing.destination == MulticastGroup.v4 })
    #expect(answer.message.answers.map(\.data) == [.address(.v4(0x0A00_0001))])
    #expect(
      answer.message.additionals.map(\.data)
        == [.address(.v6(high: 0xFE80 << 48, low: 1, scope: 0))])
    hub.log = []
    hub.inject(
      Hub.makeQuery([Question("host.local", .a)]).encoded(),
      from: Endpoint(.v4(0x0A00_0109), port: 5353), on: 1)
    hub.run(for: .seconds(1))
    let other = try #require(hub.log.first).message
    #expect(other.answers.map(\.data) == [.address(.v4(0x0A00_0107))])
    #expect(other.additionals.map(\.data) == [.types(next: "host.local", [.a])])
  }

  @Test func `R23: who asks for AAAA gets A beside it`() throws {
    var (hub, _) = Hub.makePublished(dualStack: true)
    let answer = try #require(hub.answers(to: [Question("host1.local", .aaaa)]).first).message
    #expect(answer.answers.map(\.type) == [.aaaa])
    #expect(answer.additionals.map(\.type) == [.a])
  }

  @Test func `R24: answers that are due at several moments leave in one message`() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var (hub, _) = Hub.makePublished(seed)
      hub.publish(0, "B", port: 8888)
      hub.run(for: .seconds(5))
      hub.log = []
      let start = hub.now
      hub.inject(Hub.makeQuery([type]), from: 8)
      hub.run(for: .milliseconds(19))
      hub.inject(Hub.makeQuery([types]), from: 9)
      hub.run(for: .seconds(1))
      let answers = hub.packets(0, responses: true)
      try #require(answers.count == 1)
      #expect(Set(answers[0].message.answers.map(\.name)).count == 2)
      #expect(answers[0].at - start <= .milliseconds(620))
    }
  }

  @Test func `R26: a record that another ends too early is set right`() {
    for (life, count) in [(59, 1), (60, 0), (120, 0)] as [(UInt32, Int)] {
      var (hub, _) = Hub.makePublished()
      hub.log = []
      let data = RecordData.address(.v4(0x0A00_0001))
      hub.inject(
        Hub.makeResponse([Record("host1.local", data, timeToLive: life, flushesCache: true)]),
        from: 9)
      hub.run(for: .milliseconds(900))
      #expect(hub.packets(0, responses: true).count == count)
      #expect(hub.said(0).allSatisfy { $0.timeToLive == 120 })
    }
  }

  @Test func `R35: an answer that another gave meanwhile counts as ours`() {
    for (life, count) in [(4500, 0), (4499, 1)] as [(UInt32, Int)] {
      var (hub, _) = Hub.makePublished()
      hub.log = []
      hub.inject(Hub.makeQuery([type]), from: 8)
      hub.run(for: .milliseconds(10))
      hub.inject(Hub.makeResponse([makePointer(life)]), from: 9)
      hub.run(for: .milliseconds(600))
      #expect(hub.packets(0, responses: true).count == count)
    }
  }

  @Test func `R54: a unique set is said whole though the asker knows a part of it`() throws {
    var (hub, _) = Hub.makePublished()
    let second = Link.Address(.v4(0x0A00_0063), prefixLength: 24)
    var attachment = Hub.makeAttachment(0, 2, 1)
    attachment.link.addresses.append(second)
    hub.setLinks(0, [attachment])
    hub.run(for: .seconds(5))
    let known = [0x0A00_0001, 0x0A00_0063].map {
      Record("host1.local", .address(.v4($0)), timeToLive: 120)
    }
    let question = Question("host1.local", .a)
    let answers = hub.answers(to: [question], known: [known[0]]).flatMap(\.message.answers)
    #expect(answers.map(\.data) == known.map(\.data))
    #expect(answers.allSatisfy { $0.flushesCache })
    hub.run(for: .seconds(2))
    #expect(hub.answers(to: [question], known: known).isEmpty)
  }

  @Test func `R54: a set is set right whole, and whole beside a unicast answer`() throws {
    var (hub, _) = Hub.makePublished()
    var attachment = Hub.makeAttachment(0, 2, 1)
    attachment.link.addresses.append(Link.Address(.v4(0x0A00_0063), prefixLength: 24))
    hub.setLinks(0, [attachment])
    hub.run(for: .seconds(5))
    let known = Record("host1.local", .address(.v4(0x0A00_0001)), timeToLive: 120)
    hub.log = []
    var goodbye = known
    goodbye.timeToLive = 0
    hub.inject(Hub.makeResponse([goodbye]), from: 9)
    hub.run(for: .milliseconds(200))
    #expect(hub.packets(0, responses: true).map(\.message.answers.count) == [2])
    let question = Question(Hub.makeInstance(), .srv, wantsUnicast: true)
    let answer = try #require(hub.answers(to: [question], known: [known]).first)
    #expect(answer.outgoing.destination != MulticastGroup.v4)
    #expect(answer.message.additionals.map(\.type) == [.a, .a, .nsec])
  }

  @Test func `R54: no flush bit on shared, probing, known or legacy records`() {
    var (hub, _) = Hub.makePublished()
    #expect(hub.probes(0).flatMap(\.message.authorities).allSatisfy { !$0.flushesCache })
    for record in hub.said(0) { #expect(record.flushesCache == (record.type != .ptr)) }
    let legacy = hub.answers(to: [service], port: 4000)
    #expect(legacy.count == 1)
    #expect(hub.said(0).allSatisfy { !$0.flushesCache })
  }
}
