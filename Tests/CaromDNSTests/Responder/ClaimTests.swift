import CaromCore
import CaromDNS
import Testing

@Suite struct ClaimTests {
  private let instance = SimulatedNetwork.makeInstance()

  private func makeService(port: UInt16, target: Name = "host1.local") -> RecordData {
    .service(priority: 0, weight: 0, port: port, target: target)
  }

  /// A probe with records that another host proposes for our name.
  private func makeProbe(_ data: [RecordData]) -> Message {
    var probe = SimulatedNetwork.makeQuery([Question(instance, .any)])
    probe.authorities = data.map { Record(instance, $0, timeToLive: 120) }
    return probe
  }

  /// A network whose node has sent this many probes.
  private func makeProbing(_ count: Int, seed: UInt64 = 1) -> SimulatedNetwork {
    var network = SimulatedNetwork(seed: seed)
    network.addNode(1)
    network.publish(0)
    _ = network.run(until: network.now + .seconds(2)) { $0.probes(0).count == count }
    return network
  }

  @Test func `R37: the first probe is delayed randomly by up to 250 ms`() {
    var quarters = [0, 0, 0, 0]
    for seed in 1...100 as ClosedRange<UInt64> {
      let network = makeProbing(1, seed: seed)
      quarters[min(3, Int(network.now.nanoseconds / 62_500_000))] += 1
    }
    #expect(quarters.allSatisfy { $0 >= 12 })
  }

  @Test func `R36 R37: names published together share their probes`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    for index in 0..<8 { network.publish(0, "\(index)") }
    network.run(for: .seconds(2))
    #expect(network.probes(0).count == 3)
    #expect(network.probes(0)[0].message.questions.count == 9)
  }

  @Test(arguments: [RecordType.a, .txt, RecordType(rawValue: 99)])
  func `R38: while probing, a response of any type is a conflict`(type: RecordType) {
    var network = makeProbing(2)
    let data: RecordData =
      type == .a ? .address(.v4(9)) : type == .txt ? .text([1, 65]) : .raw(type, [1])
    network.inject(
      SimulatedNetwork.makeResponse([Record(instance, data, timeToLive: 120)]), from: 66)
    network.run(for: .seconds(3))
    #expect(network.names(0) == ["Maya's table (2)"])
  }

  @Test func `R38: responses before the first probe and cached records are not conflicts`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.browse(0)
    let other = SimulatedNetwork.makeResponse([
      Record(instance, makeService(port: 1), timeToLive: 120, flushesCache: true),
      Record(SimulatedNetwork.type.name(), .pointer(instance), timeToLive: 4500),
    ])
    network.inject(other, from: 66)
    network.run(for: .seconds(1))
    network.publish(0)
    network.inject(other, from: 66)
    #expect(network.probes(0).isEmpty)
    network.run(for: .seconds(3))
    #expect(network.names(0) == ["Maya's table"])
  }

  @Test func `R39: in the example of RFC 6762 the later address wins`() {
    let low = Record("MyPrinter.local", .address(.v4(0xA9FE_63C8)), timeToLive: 120)
    let high = Record("MyPrinter.local", .address(.v4(0xA9FE_C832)), timeToLive: 120)
    #expect(Prober.tiebreak([low], [high]) == .lost)
    #expect(Prober.tiebreak([high], [low]) == .won)
    #expect(Prober.tiebreak([low], [low]) == .same)
  }

  @Test func `R39: tiebreaks compare class, type and raw data, and the longer set wins`() {
    let make = { (data: RecordData, recordClass: UInt16) in
      Record("x.local", data, timeToLive: 120, recordClass: recordClass)
    }
    let a = make(.address(.v4(1)), 1)
    let text = make(.text([1, 65]), 1)
    let raw = { (bytes: [UInt8]) in make(.raw(RecordType(rawValue: 99), bytes), 1) }
    // The class precedes the type, and the type precedes the data.
    #expect(Prober.tiebreak([make(.address(.v4(1)), 2)], [raw([255])]) == .won)
    #expect(Prober.tiebreak([text], [make(.address(.v4(0xFFFF_FFFF)), 1)]) == .won)
    // Bytes compare as unsigned, and a prefix comes first.
    #expect(Prober.tiebreak([raw([0x80])], [raw([0x7F, 1])]) == .won)
    #expect(Prober.tiebreak([raw([1, 2])], [raw([1, 2, 0])]) == .lost)
    // The order of the records in the message is irrelevant.
    #expect(Prober.tiebreak([text, a], [a, text]) == .same)
    #expect(Prober.tiebreak([a, text], [text, a, raw([1])]) == .lost)
    #expect(Prober.tiebreak([a], [a, a]) == .lost)
    // Names in data compare uncompressed and with their case.
    let target = { (name: Name) in make(makeService(port: 1, target: name), 1) }
    #expect(Prober.tiebreak([target("a.local")], [target("B.local")]) == .won)
  }

  @Test func `R39: the loser of a tiebreak waits a second, and the winner continues`() throws {
    for (port, wait) in [(9999, 1000), (1, 250)] as [(UInt16, Int64)] {
      var network = makeProbing(1)
      let text = TXTRecord(dictionaryLiteral: ("seats", "1/2"))
      network.inject(
        makeProbe([makeService(port: port, target: "other.local"), .text(text.encoded)]),
        from: 66)
      let start = network.now
      network.run(for: .seconds(2))
      // Probing for the host's own name continues meanwhile. The loser starts again with a random
      // delay.
      let next = try #require(
        network.probes(0).dropFirst().first {
          $0.message.questions.map(\.key.name).contains(instance)
        })
      #expect(next.at - start <= .milliseconds(wait == 250 ? 251 : wait + 251))
      #expect(next.at - start >= .milliseconds(wait - 1))
    }
  }

  @Test func `R39: the losers of a tiebreak wait for different times`() throws {
    let waits = try (1...20 as ClosedRange<UInt64>).map { seed -> Duration in
      var network = makeProbing(1, seed: seed)
      network.inject(makeProbe([makeService(port: 9999, target: "other.local")]), from: 66)
      let start = network.now
      network.run(for: .seconds(2))
      let next = try #require(
        network.probes(0).dropFirst().first {
          $0.message.questions.map(\.key.name).contains(instance)
        })
      return next.at - start
    }
    // A second, then up to 250 ms more.
    #expect(waits.allSatisfy { $0 >= .milliseconds(999) && $0 <= .milliseconds(1251) })
    let slices = Set(waits.map { Int($0 / Duration.milliseconds(50)) })
    #expect(slices.count >= 4)
  }

  @Test func `R39: identical probes are not a conflict`() {
    var network = makeProbing(1)
    var echo = network.probes(0)[0].message
    echo.questions.removeFirst()
    network.inject(echo, from: 66)
    network.run(for: .seconds(3))
    #expect(network.probes(0).count == 3)
    #expect(network.names(0) == ["Maya's table"])
  }

  @Test func `R39 R49: publishing fails after a minute of lost tiebreaks`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    let id = network.publish(0)
    let probe = makeProbe([
      .text(SimulatedNetwork.makeService().text.encoded), makeService(port: 9999),
    ])
    var seen = 0
    while network.run(until: .zero + .seconds(90), { $0.probes(0).count > seen }) {
      seen += 1
      network.inject(probe, from: 66)
    }
    #expect(network.nodes[0].events.map(\.event) == [.responder(.failed(id, .noFreeName))])
    #expect(network.nodes[0].events[0].at <= .zero + .seconds(62))
  }

  @Test func `R40: after 15 conflicts in 10 s each further probe waits 5 s`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.publish(0)
    var moments: [Instant] = []
    let end = network.now + .seconds(40)
    while network.run(until: end, { $0.probes(0).count > moments.count }) {
      moments.append(network.now)
      let names = network.probes(0)[moments.count - 1].message.questions.map(\.key.name)
      let taken = names.filter { $0 != "host1.local" }
      guard !taken.isEmpty else { continue }
      network.inject(
        SimulatedNetwork.makeResponse(taken.map { Record($0, .text([0]), timeToLive: 120) }),
        from: 66)
    }
    let gaps = zip(moments, moments.dropFirst()).map { $1 - $0 }
    let slow = gaps.suffix(4)
    #expect(moments.count >= 15 + 4)
    #expect(slow.allSatisfy { $0 >= .seconds(5) })
    #expect(gaps.prefix(12).allSatisfy { $0 < .seconds(1) })
  }

  @Test func `R41: a claimed name is defended at once, at most four times a second`() {
    var (network, _) = SimulatedNetwork.makePublished()
    for _ in 0..<3 {
      network.log = []
      let start = network.now
      network.inject(makeProbe([makeService(port: 9)]), from: 66)
      network.run(for: .milliseconds(250))
      #expect(network.packets(0, responses: true).count == 1)
      #expect(network.log[0].at - start <= .milliseconds(11))
    }
    network.log = []
    for _ in 0..<25 {
      network.inject(makeProbe([makeService(port: 9)]), from: 66)
      network.run(for: .milliseconds(10))
    }
    #expect(network.log.count <= 2)
  }

  @Test func `R46: new addresses are probed and announced within 1100 ms`() throws {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    let start = network.now
    network.setLinks(0, [SimulatedNetwork.makeAttachment(0, 2, 77)])
    network.run(for: .seconds(4))
    #expect(network.probes(0).count == 3)
    let announcements = try #require(
      network.packets(0, responses: true).first {
        $0.message.answers.allSatisfy { $0.timeToLive > 0 }
      })
    #expect(announcements.at - start <= .milliseconds(1100))
    #expect(announcements.message.answers.contains { $0.data == .address(.v4(0x0A00_004D)) })
    #expect(network.names(0) == ["Maya's table"])
  }

  @Test func `R46: names are probed and announced again after a cable change or a sleep`() {
    var (network, _) = SimulatedNetwork.makePublished()
    let attachments = network.nodes[0].attachments
    network.setLinks(0, [])
    network.run(for: .seconds(5))
    network.log = []
    network.setLinks(0, attachments)
    network.run(for: .seconds(4))
    #expect(network.probes(0).count == 3 && network.packets(0, responses: true).count == 2)
    network.log = []
    network.with(0) { $0.reclaimNames(at: $1) }
    network.run(for: .seconds(4))
    #expect(network.probes(0).count == 3 && network.packets(0, responses: true).count == 2)
    #expect(network.names(0) == ["Maya's table"])
  }

  @Test func `R63: the host's name is renamed on all links if it is lost on one`() {
    var network = SimulatedNetwork()
    network.addNode(
      "host", [SimulatedNetwork.makeAttachment(0, 2, 1), SimulatedNetwork.makeAttachment(1, 3, 1)])
    network.addNode("host", [SimulatedNetwork.makeAttachment(1, 2, 9)])
    network.publish(1, "Other")
    network.run(for: .seconds(5))
    network.publish(0)
    network.run(for: .seconds(5))
    #expect(network.nodes[0].machine.hostName == "host-2.local")
    #expect(network.nodes[1].machine.hostName == "host.local")
    for segment in 0...1 {
      let announcements = network.log.filter {
        $0.segment == segment && $0.sender == 0 && $0.message.isResponse
      }
      #expect(announcements.last?.message.answers.map(\.name).contains("host-2.local") ?? false)
    }
    #expect(network.names(0) == ["Maya's table"])
  }

  @Test func `R50: records with a host's name live 120 s, and others 75 minutes`() {
    let (network, _) = SimulatedNetwork.makePublished()
    for record in network.sentRecords(0) {
      #expect(record.timeToLive == ([.a, .srv].contains(record.type) ? 120 : 4500))
    }
  }

  /// A dual-stack node with fifty services, after their announcements.
  private func makeFifty() -> (network: SimulatedNetwork, ids: [PublicationID]) {
    var network = SimulatedNetwork()
    network.addNode(1, dualStack: true)
    let ids = (0..<50).map { network.publish(0, "\($0)") }
    network.run(for: .seconds(5))
    network.log = []
    return (network, ids)
  }

  @Test func `R51: services that end one after the other share their goodbye messages`() {
    var (network, ids) = makeFifty()
    network.with(0) { $0.withdrawAll(at: $1) }
    let fewest = network.log.count
    #expect(fewest < 15)
    (network, ids) = makeFifty()
    let start = network.now
    for id in ids {
      network.with(0) { $0.withdraw(id, at: $1) }
      network.run(for: .microseconds(200))
    }
    network.run(for: .seconds(1))
    #expect(network.log.count == fewest)
    #expect(network.log.allSatisfy { $0.at - start <= .milliseconds(20) })
    let v4 = network.log.filter { $0.transmit.destination == MulticastGroup.v4 }
    let records = v4.flatMap(\.message.answers)
    #expect(records.count == Set(records.map(\.identity)).count)
    #expect(records.count == 50 * 3 + 3 && records.allSatisfy { $0.timeToLive == 0 })
  }

  @Test func `R51: a goodbye never follows the announcement of the same record`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    var service = SimulatedNetwork.makeService("5b9c3f8e")
    service.isUnique = true
    let id = network.publish(0, service)
    network.browse(1)
    network.run(for: .seconds(5))
    network.log = []
    network.with(0) { $0.withdraw(id, at: $1) }
    network.run(for: .milliseconds(5))
    network.publish(0, service)
    network.run(for: .seconds(5))
    #expect(network.sentRecords(0).allSatisfy { $0.timeToLive != 0 })
    #expect(network.changes(1) == ["+5b9c3f8e"])
  }

  @Test func `R51: withdrawing everything sends goodbyes on every link`() {
    var network = SimulatedNetwork()
    network.addNode(
      "host", [SimulatedNetwork.makeAttachment(0, 2, 1), SimulatedNetwork.makeAttachment(1, 3, 1)])
    for index in 0..<40 { network.publish(0, "\(index)") }
    network.run(for: .seconds(5))
    network.log = []
    network.with(0) { $0.withdrawAll(at: $1) }
    for segment in 0...1 {
      let records = network.log.filter { $0.segment == segment }.flatMap(\.message.answers)
      #expect(records.count == 40 * 3 + 2)
      #expect(records.allSatisfy { $0.timeToLive == 0 })
    }
    network.run(for: .seconds(10))
    #expect(network.answers(to: [Question(SimulatedNetwork.type.name(), .ptr)]).isEmpty)
  }
}
