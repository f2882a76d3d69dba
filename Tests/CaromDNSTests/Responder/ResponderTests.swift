import CaromCore
import CaromDNS
import Testing

@Suite struct ResponderTests {
  @Test func `R36 R37: the host and the service are probed together, three times, 250 ms apart`()
    throws
  {
    let (network, _) = SimulatedNetwork.makePublished()
    let probes = network.probes(0)
    #expect(probes.count == 3)
    #expect(probes[0].at.nanoseconds <= 250_000_000)
    #expect(probes[1].at - probes[0].at == .milliseconds(250))
    #expect(probes[2].at - probes[1].at == .milliseconds(250))
    for probe in probes {
      #expect(probe.message.questions.map(\.key.type) == [.any, .any])
      #expect(probe.message.authorities.map(\.type) == [.a, .srv, .txt])
      #expect(probe.message.authorities.allSatisfy { !$0.flushesCache })
    }
    let published = try #require(network.nodes[0].events.first?.at)
    #expect(published - probes[2].at == .milliseconds(250))
    #expect(network.names(0) == ["Maya's table"])
  }

  @Test func `R43 R44: a claimed name is announced exactly twice, a second apart`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.run(for: .seconds(7200))
    let announcements = network.packets(0, responses: true)
    #expect(announcements.count == 2)
    #expect(announcements[1].at - announcements[0].at == .seconds(1))
    for packet in announcements {
      #expect(packet.message.id == 0 && packet.message.flags == 0x8400)
      #expect(packet.message.questions.isEmpty)
      let flush = packet.message.answers.map { "\($0.type.rawValue) \($0.flushesCache)" }
      #expect(flush == ["12 false", "12 false", "33 true", "16 true", "1 true"])
    }
  }

  @Test func `publishing takes at most 900 bytes on the wire`() {
    let (network, _) = SimulatedNetwork.makePublished()
    #expect(network.log.count == 5)
    #expect(network.log.reduce(0) { $0 + $1.transmit.payload.count + 42 } <= 900)
  }

  @Test func `R13 R80: a shared answer is delayed by 20 to 120 ms and carries additional records`()
    throws
  {
    var quarters = [0, 0, 0, 0]
    for seed in 1...80 as ClosedRange<UInt64> {
      var (network, _) = SimulatedNetwork.makePublished(seed)
      let start = network.now
      let answers = network.answers(to: [Question(SimulatedNetwork.type.name(), .ptr)])
      let answer = try #require(answers.first)
      #expect(answers.count == 1)
      #expect(answer.message.answers.map(\.type) == [.ptr])
      #expect(answer.message.additionals.map(\.type) == [.srv, .txt, .a, .nsec])
      let wait = (answer.at - start).inMilliseconds - 0.05
      try #require(wait >= 20 && wait <= 120)
      quarters[min(3, Int((wait - 20) / 25))] += 1
    }
    #expect(quarters.allSatisfy { $0 >= 8 })
  }

  @Test func `R14: a unique answer is sent at once`() throws {
    var (network, _) = SimulatedNetwork.makePublished()
    let start = network.now
    let answers = network.answers(to: [Question(SimulatedNetwork.makeInstance(), .srv)])
    #expect(try #require(answers.first).at - start == network.delay)
    #expect(answers[0].message.answers.map(\.flushesCache) == [true])
  }

  @Test func `R15: a record is not multicast twice within a second`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    for _ in 0..<10 {
      var query = Message()
      query.questions = [Question(SimulatedNetwork.makeInstance(), .srv)]
      network.inject(query, from: 9)
      network.run(for: .milliseconds(50))
    }
    network.run(for: .seconds(3))
    let answers = network.packets(0, responses: true)
    #expect(answers.count == 2)
    #expect(answers[1].at - answers[0].at >= .seconds(1))
  }

  @Test func `R29: an answer known with at least half of its life is suppressed`() {
    let pointer = { (life: UInt32) in
      Record(
        SimulatedNetwork.type.name(), .pointer(SimulatedNetwork.makeInstance()), timeToLive: life)
    }
    for (life, count) in [(4500, 0), (2250, 0), (2249, 1)] as [(UInt32, Int)] {
      var (network, _) = SimulatedNetwork.makePublished()
      let answers = network.answers(
        to: [Question(SimulatedNetwork.type.name(), .ptr)], known: [pointer(life)])
      #expect(answers.count == count)
    }
  }

  @Test func `R33: known answers in a second packet suppress the answer`() {
    var (network, _) = SimulatedNetwork.makePublished()
    var query = Message()
    query.questions = [Question(SimulatedNetwork.type.name(), .ptr)]
    query.isTruncated = true
    var more = Message()
    more.answers = [
      Record(
        SimulatedNetwork.type.name(), .pointer(SimulatedNetwork.makeInstance()), timeToLive: 4500)
    ]
    network.log = []
    network.inject(query, from: 9)
    network.run(for: .milliseconds(300))
    network.inject(more, from: 9)
    network.run(for: .seconds(1))
    #expect(network.log.isEmpty)

    network.inject(query, from: 9)
    let start = network.now
    network.run(for: .seconds(1))
    #expect(network.log.count == 1)
    #expect(network.log[0].at - start >= .milliseconds(400))
    #expect(network.log[0].at - start <= .milliseconds(501))
  }

  @Test func `R20: a missing type of an owned name is denied with an NSEC record`() throws {
    var (network, _) = SimulatedNetwork.makePublished()
    let answers = network.answers(to: [Question("host1.local", .aaaa)])
    let record = try #require(answers.first?.message.answers.first)
    #expect(record.data == .types(next: "host1.local", [.a]))
    #expect(record.timeToLive == 120 && record.flushesCache)
  }

  @Test func `R25: a question for any type and class gets all records of the name`() throws {
    var (network, _) = SimulatedNetwork.makePublished()
    let answers = network.answers(to: [
      Question(SimulatedNetwork.makeInstance(), .any, questionClass: Question.anyClass)
    ])
    #expect(Set(try #require(answers.first).message.answers.map(\.type)) == [.srv, .txt])
  }

  @Test func `R79: each service type is listed once`() throws {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.publish(0, "A")
    network.publish(0, "B", port: 8888)
    network.run(for: .seconds(5))
    let answers = network.answers(to: [Question("_services._dns-sd._udp.local", .ptr)])
    #expect(answers.first?.message.answers.map(\.data) == [.pointer(SimulatedNetwork.type.name())])
  }

  @Test func `R27: a legacy querier gets a conventional unicast response`() throws {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    var query = Message(id: 77)
    query.questions = [Question(SimulatedNetwork.type.name(), .ptr, wantsUnicast: true)]
    network.inject(query, from: 9, port: 40_000)
    network.run(for: .milliseconds(10))
    let answer = try #require(network.log.first)
    #expect(answer.transmit.destination == Endpoint(.v4(0x0A00_0009), port: 40_000))
    #expect(answer.message.id == 77)
    #expect(answer.message.questions.map(\.key) == query.questions.map(\.key))
    let records = answer.message.answers + answer.message.additionals
    #expect(records.allSatisfy { $0.timeToLive <= 10 && !$0.flushesCache })
  }

  @Test(arguments: [(1, false), (60, true)])
  func `R27: a legacy response without all answers has the TC bit`(
    services: Int, isTruncated: Bool
  ) throws {
    var network = SimulatedNetwork()
    network.addNode(1)
    for number in 0..<services {
      network.publish(0, "A service with a name of some length, number \(number)")
    }
    network.run(for: .seconds(5))
    network.log = []
    var query = Message(id: 77)
    query.questions = [Question(SimulatedNetwork.type.name(), .ptr)]
    network.inject(query, from: 9, port: 40_000)
    network.run(for: .milliseconds(10))
    let answer = try #require(network.log.first).message
    #expect(answer.isTruncated == isTruncated)
    #expect(answer.answers.isEmpty == false && answer.answers.count < 60)
    #expect(answer.additionals.isEmpty == isTruncated)
  }

  @Test func `R18 R19: a unicast answer requires a recent multicast and an on-link querier`() throws
  {
    var (network, _) = SimulatedNetwork.makePublished()
    let question = Question(SimulatedNetwork.makeInstance(), .srv, wantsUnicast: true)
    let soon = network.answers(to: [question])
    #expect(soon.first?.transmit.destination == Endpoint(.v4(0x0A00_0009), port: 5353))
    network.run(for: .seconds(31))
    let late = network.answers(to: [question])
    #expect(late.first?.transmit.destination == MulticastGroup.v4)
    let offLink = Endpoint(.v4(0x0B00_0001), port: 5353)
    network.log = []
    var query = Message()
    query.questions = [question]
    network.inject(query.encoded(), from: offLink, to: Endpoint(.v4(0x0A00_0001), port: 5353))
    network.run(for: .seconds(1))
    #expect(network.log.isEmpty)
  }

  @Test func `R51: withdrawing a service sends a goodbye for every record`() {
    var (network, id) = SimulatedNetwork.makePublished()
    network.log = []
    network.with(0) { $0.withdraw(id, at: $1) }
    network.run(for: .milliseconds(20))
    #expect(network.log.count == 1)
    #expect(network.log[0].message.answers.map(\.type) == [.ptr, .ptr, .srv, .txt, .a])
    #expect(network.log[0].message.answers.allSatisfy { $0.timeToLive == 0 })
    #expect(network.answers(to: [Question(SimulatedNetwork.type.name(), .ptr)]).isEmpty)
  }

  @Test func `R45 R48: a changed TXT record is announced, and its old echo is no conflict`() {
    var (network, id) = SimulatedNetwork.makePublished()
    network.log = []
    network.update(0, id, text: ["seats": "2/2"])
    var echo = Message(isResponse: true)
    let text = TXTRecord(dictionaryLiteral: ("seats", "1/2"))
    echo.answers = [
      Record(
        SimulatedNetwork.makeInstance(), .text(text.encoded), timeToLive: 4500, flushesCache: true)
    ]
    network.inject(echo, from: 1)
    network.run(for: .seconds(5))
    #expect(network.packets(0, responses: true).count == 2)
    #expect(network.probes(0).isEmpty)
  }

  @Test func `R26: another host's goodbye for our record makes us send it again`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    var goodbye = Message(isResponse: true)
    goodbye.answers = [
      Record("host1.local", .address(.v4(0x0A00_0001)), timeToLive: 0, flushesCache: true)
    ]
    network.inject(goodbye, from: 1)
    network.run(for: .milliseconds(200))
    #expect(network.log.map { $0.message.answers.map(\.timeToLive) } == [[120]])
  }
}
