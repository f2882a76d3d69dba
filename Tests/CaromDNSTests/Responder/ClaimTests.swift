import CaromCore
import CaromDNS
import Testing

@Suite struct ClaimTests {
  private let instance = Hub.makeInstance()

  private func makeService(port: UInt16, target: Name = "host1.local") -> RecordData {
    .service(priority: 0, weight: 0, port: port, target: target)
  }

  /// What another prober proposes for our name.
  private func makeProbe(_ data: [RecordData]) -> Message {
    var probe = Hub.makeQuery([Question(instance, .any)])
    probe.authorities = data.map { Record(instance, $0, timeToLive: 120) }
    return probe
  }

  /// A node that has sent that many probes.
  private func makeProbing(_ count: Int, seed: UInt64 = 1) -> Hub {
    var hub = Hub(seed: seed)
    hub.addNode(1)
    hub.publish(0)
    _ = hub.run(until: hub.now + .seconds(2)) { $0.probes(0).count == count }
    return hub
  }

  @Test func `R37: the first probe comes at any moment within 250 ms`() {
    var quarters = [0, 0, 0, 0]
    for seed in 1...100 as ClosedRange<UInt64> {
      let hub = makeProbing(1, seed: seed)
      quarters[min(3, Int(hub.now.nanoseconds / 62_500_000))] += 1
    }
    #expect(quarters.allSatisfy { $0 >= 12 })
  }

  @Test func `R36 R37: names published together are probed together`() {
    var hub = Hub()
    hub.addNode(1)
    for index in 0..<8 { hub.publish(0, "\(index)") }
    hub.run(for: .seconds(2))
    #expect(hub.probes(0).count == 3)
    #expect(hub.probes(0)[0].message.questions.count == 9)
  }

  @Test(arguments: [RecordType.a, .txt, RecordType(rawValue: 99)])
  func `R38: while probing, an answer of any type is a conflict`(type: RecordType) {
    var hub = makeProbing(2)
    let data: RecordData =
      type == .a ? .address(.v4(9)) : type == .txt ? .text([1, 65]) : .raw(type, [1])
    hub.inject(Hub.makeResponse([Record(instance, data, timeToLive: 120)]), from: 66)
    hub.run(for: .seconds(3))
    #expect(hub.names(0) == ["Maya's table (2)"])
  }

  @Test func `R38: answers before the first probe, and what the cache holds, are no conflict`() {
    var hub = Hub()
    hub.addNode(1)
    hub.browse(0)
    let other = Hub.makeResponse([
      Record(instance, makeService(port: 1), timeToLive: 120, flushesCache: true),
      Record(Hub.type.name(), .pointer(instance), timeToLive: 4500),
    ])
    hub.inject(other, from: 66)
    hub.run(for: .seconds(1))
    hub.publish(0)
    hub.inject(other, from: 66)
    #expect(hub.probes(0).isEmpty)
    hub.run(for: .seconds(3))
    #expect(hub.names(0) == ["Maya's table"])
  }

  @Test func `R39: the standard's own example: the address that is later wins`() {
    let low = Record("MyPrinter.local", .address(.v4(0xA9FE_63C8)), timeToLive: 120)
    let high = Record("MyPrinter.local", .address(.v4(0xA9FE_C832)), timeToLive: 120)
    #expect(Prober.tiebreak([low], [high]) == .lost)
    #expect(Prober.tiebreak([high], [low]) == .won)
    #expect(Prober.tiebreak([low], [low]) == .same)
  }

  @Test func `R39: sets are sorted by class, type and raw bytes, and the longer one wins`() {
    let make = { (data: RecordData, recordClass: UInt16) in
      Record("x.local", data, timeToLive: 120, recordClass: recordClass)
    }
    let a = make(.address(.v4(1)), 1)
    let text = make(.text([1, 65]), 1)
    let raw = { (bytes: [UInt8]) in make(.raw(RecordType(rawValue: 99), bytes), 1) }
    // Class before type, type before data.
    #expect(Prober.tiebreak([make(.address(.v4(1)), 2)], [raw([255])]) == .won)
    #expect(Prober.tiebreak([text], [make(.address(.v4(0xFFFF_FFFF)), 1)]) == .won)
    // Unsigned bytes; the one that ends first is earlier.
    #expect(Prober.tiebreak([raw([0x80])], [raw([0x7F, 1])]) == .won)
    #expect(Prober.tiebreak([raw([1, 2])], [raw([1, 2, 0])]) == .lost)
    // The order in the message does not count.
    #expect(Prober.tiebreak([text, a], [a, text]) == .same)
    #expect(Prober.tiebreak([a, text], [text, a, raw([1])]) == .lost)
    #expect(Prober.tiebreak([a], [a, a]) == .lost)
    // Names in data count uncompressed and in their own case.
    let target = { (name: Name) in make(makeService(port: 1, target: name), 1) }
    #expect(Prober.tiebreak([target("a.local")], [target("B.local")]) == .won)
  }

  @Test func `R39: who loses a simultaneous probe waits a second, who wins goes on`() throws {
    for (port, wait) in [(9999, 1000), (1, 250)] as [(UInt16, Int64)] {
      var hub = makeProbing(1)
      let text = TXTRecord(dictionaryLiteral: ("seats", "1/2"))
      hub.inject(
        makeProbe([makeService(port: port, target: "other.local"), .text(text.encoded)]),
        from: 66)
      let start = hub.now
      hub.run(for: .seconds(2))
      // The host's own name goes on meanwhile.
      let next = try #require(
        hub.probes(0).dropFirst().first { $0.message.questions.map(\.key.name).contains(instance) })
      #expect(next.at - start <= .milliseconds(wait + 1))
      #expect(next.at - start >= .milliseconds(wait - 1))
    }
  }

  @Test func `R39: equal probes are no conflict`() {
    var hub = makeProbing(1)
    var echo = hub.probes(0)[0].message
    echo.questions.removeFirst()
    hub.inject(echo, from: 66)
    hub.run(for: .seconds(3))
    #expect(hub.probes(0).count == 3)
    #expect(hub.names(0) == ["Maya's table"])
  }

  @Test func `R39 R49: a prober that wins for ever and never claims is given up after a minute`() {
    var hub = Hub()
    hub.addNode(1)
    let id = hub.publish(0)
    let probe = makeProbe([.text(Hub.makeService().text.encoded), makeService(port: 9999)])
    var seen = 0
    while hub.run(until: .zero + .seconds(90), { $0.probes(0).count > seen }) {
      seen += 1
      hub.inject(probe, from: 66)
    }
    #expect(hub.nodes[0].events.map(\.event) == [.responder(.failed(id, .noFreeName))])
    #expect(hub.nodes[0].events[0].at <= .zero + .seconds(62))
  }

  @Test func `R40: after 15 conflicts in 10 s each further probe waits 5 s`() {
    var hub = Hub()
    hub.addNode(1)
    hub.publish(0)
    var moments: [Instant] = []
    let end = hub.now + .seconds(40)
    while hub.run(until: end, { $0.probes(0).count > moments.count }) {
      moments.append(hub.now)
      let names = hub.probes(0)[moments.count - 1].message.questions.map(\.key.name)
      let taken = names.filter { $0 != "host1.local" }
      guard !taken.isEmpty else { continue }
      hub.inject(
        Hub.makeResponse(taken.map { Record($0, .text([0]), timeToLive: 120) }), from: 66)
    }
    let gaps = zip(moments, moments.dropFirst()).map { $1 - $0 }
    let slow = gaps.suffix(4)
    #expect(moments.count >= 15 + 4)
    #expect(slow.allSatisfy { $0 >= .seconds(5) })
    #expect(gaps.prefix(12).allSatisfy { $0 < .seconds(1) })
  }

  @Test func `R41: a probe for a name of ours is denied at once, four times a second at most`() {
    var (hub, _) = Hub.makePublished()
    for _ in 0..<3 {
      hub.log = []
      let start = hub.now
      hub.inject(makeProbe([makeService(port: 9)]), from: 66)
      hub.run(for: .milliseconds(250))
      #expect(hub.packets(0, responses: true).count == 1)
      #expect(hub.log[0].at - start <= .milliseconds(11))
    }
    hub.log = []
    for _ in 0..<25 {
      hub.inject(makeProbe([makeService(port: 9)]), from: 66)
      hub.run(for: .milliseconds(10))
    }
    #expect(hub.log.count <= 2)
  }

  @Test func `R46: new addresses are probed and announced within 1100 ms`() throws {
    var (hub, _) = Hub.makePublished()
    hub.log = []
    let start = hub.now
    hub.setLinks(0, [Hub.makeAttachment(0, 2, 77)])
    hub.run(for: .seconds(4))
    #expect(hub.probes(0).count == 3)
    let told = try #require(
      hub.packets(0, responses: true).first { $0.message.answers.allSatisfy { $0.timeToLive > 0 } })
    #expect(told.at - start <= .milliseconds(1100))
    #expect(told.message.answers.contains { $0.data == .address(.v4(0x0A00_004D)) })
    #expect(hub.names(0) == ["Maya's table"])
  }

  @Test func `R46: a cable that comes back, or a computer that wakes, probes and announces`() {
    var (hub, _) = Hub.makePublished()
    let attachments = hub.nodes[0].attachments
    hub.setLinks(0, [])
    hub.run(for: .seconds(5))
    hub.log = []
    hub.setLinks(0, attachments)
    hub.run(for: .seconds(4))
    #expect(hub.probes(0).count == 3 && hub.packets(0, responses: true).count == 2)
    hub.log = []
    hub.with(0) { $0.reclaimNames(at: $1) }
    hub.run(for: .seconds(4))
    #expect(hub.probes(0).count == 3 && hub.packets(0, responses: true).count == 2)
    #expect(hub.names(0) == ["Maya's table"])
  }

  @Test func `R63: the host's name is defended on every link, and lost on all with one`() {
    var hub = Hub()
    hub.addNode("host", [Hub.makeAttachment(0, 2, 1), Hub.makeAttachment(1, 3, 1)])
    hub.addNode("host", [Hub.makeAttachment(1, 2, 9)])
    hub.publish(1, "Other")
    hub.run(for: .seconds(5))
    hub.publish(0)
    hub.run(for: .seconds(5))
    #expect(hub.nodes[0].machine.hostName == "host-2.local")
    #expect(hub.nodes[1].machine.hostName == "host.local")
    for segment in 0...1 {
      let told = hub.log.filter { $0.segment == segment && $0.sender == 0 && $0.message.isResponse }
      #expect(told.last?.message.answers.map(\.name).contains("host-2.local") ?? false)
    }
    #expect(hub.names(0) == ["Maya's table"])
  }

  @Test func `R50: records that name a host live 120 s, others 75 min`() {
    let (hub, _) = Hub.makePublished()
    for record in hub.said(0) {
      #expect(record.timeToLive == ([.a, .srv].contains(record.type) ? 120 : 4500))
    }
  }

  @Test func `R51: a clean end says goodbye for everything, on every link`() {
    var hub = Hub()
    hub.addNode("host", [Hub.makeAttachment(0, 2, 1), Hub.makeAttachment(1, 3, 1)])
    for index in 0..<40 { hub.publish(0, "\(index)") }
    hub.run(for: .seconds(5))
    hub.log = []
    hub.with(0) { $0.withdrawAll(at: $1) }
    for segment in 0...1 {
      let records = hub.log.filter { $0.segment == segment }.flatMap(\.message.answers)
      #expect(records.count == 40 * 3 + 2)
      #expect(records.allSatisfy { $0.timeToLive == 0 })
    }
    hub.run(for: .seconds(10))
    #expect(hub.answers(to: [Question(Hub.type.name(), .ptr)]).isEmpty)
  }
}
