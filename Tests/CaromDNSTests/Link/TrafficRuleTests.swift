import CaromCore
import CaromDNS
import Testing

/// Rules that suppress redundant questions and answers.
@Suite struct TrafficRuleTests {
  private func makeBrowsing() -> SimulatedNetwork {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.browse(0)
    return network
  }

  @Test func `R30: a query lists shared answers with more than half of their life left`() {
    var network = makeBrowsing()
    network.respond([
      SimulatedNetwork.makePointer("long"), SimulatedNetwork.makePointer("short", life: 4),
    ])
    var flushing = SimulatedNetwork.makePointer("unique")
    flushing.flushesCache = true
    network.run(for: .milliseconds(1500))
    let known = network.log.map { $0.message.answers.map(\.data) }
    let long = RecordData.pointer(SimulatedNetwork.makeInstance("long"))
    let short = RecordData.pointer(SimulatedNetwork.makeInstance("short"))
    #expect(known == [[long, short], [long, short]])
    network.run(for: .milliseconds(2000))
    #expect(network.log.last?.message.answers.map(\.data) == [long])
    #expect(network.log.allSatisfy { $0.message.answers.allSatisfy { !$0.flushesCache } })
    #expect(network.log.last?.message.answers.first?.timeToLive == 4496)
  }

  @Test func `R30: unique answers are not listed as known answers`() {
    var network = makeBrowsing()
    _ = network.with(0) { $0.query("host9.local", .a, at: $1) }
    network.respond([SimulatedNetwork.makeAddress()])
    network.run(for: .seconds(100))
    #expect(network.log.allSatisfy { $0.message.answers.isEmpty })
  }

  @Test func `R31: known answers and authority records of other hosts are not cached`() {
    var network = makeBrowsing()
    network.ask(
      [Question(SimulatedNetwork.type.name(), .ptr)], known: [SimulatedNetwork.makePointer()],
      authorities: [SimulatedNetwork.makePointer("probed")])
    var response = Message(isResponse: true)
    response.authorities = [SimulatedNetwork.makePointer("authority")]
    network.inject(response, from: 9)
    network.run(for: .seconds(5))
    #expect(network.changes(0).isEmpty)
    #expect(
      network.nodes[0].machine.cachedRecords(SimulatedNetwork.type.name(), .ptr, at: network.now)
        .isEmpty)
  }

  @Test func `R32: known answers that do not fit follow at once in packets with the TC bit`() {
    var network = makeBrowsing()
    network.respond(
      (0..<60).map { SimulatedNetwork.makePointer("a table with a rather long name \($0)") })
    let first = network.run(until: network.now.advanced(by: .seconds(1))) { !$0.log.isEmpty }
    #expect(first)
    let at = network.now
    let train = network.log.filter { $0.at == at && $0.message.questions.first?.key.type != .txt }
    #expect(train.count >= 2)
    #expect(train.map(\.message.isTruncated) == train.indices.map { $0 < train.count - 1 })
    #expect(train.dropFirst().allSatisfy { $0.message.questions.isEmpty })
    #expect(Set(train.flatMap(\.message.answers).map(\.identity)).count == 60)
    #expect(network.log.allSatisfy { $0.transmit.payload.count <= 1452 })
  }

  @Test func `R32: each packet of questions is followed by its own known answers`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    for index in 0..<100 {
      network.browse(0, .named(SimulatedNetwork.makeInstance("a name of some length \(index)")))
    }
    network.respond(
      (0..<100).map {
        Record(
          SimulatedNetwork.makeInstance("a name of some length \($0)"), .pointer("x.local"),
          timeToLive: 4500)
      })
    network.log = []
    network.run(for: .seconds(2))
    var asked: Set<Name> = []
    for packet in network.log {
      if !packet.message.questions.isEmpty { asked = Set(packet.message.questions.map(\.key.name)) }
      #expect(packet.message.answers.allSatisfy { asked.contains($0.name) })
    }
    #expect(network.log.count >= 4)
  }

  @Test func `R34: a question that another host just asked is not repeated`() throws {
    var network = makeBrowsing()
    network.ask([Question(SimulatedNetwork.type.name(), .ptr)])
    network.run(for: .milliseconds(990))
    #expect(network.log.isEmpty)
    network.run(for: .milliseconds(100))
    #expect(network.log.count == 1)
    // Our next query is due after two seconds. Shortly before it, another host's query replaces it.
    network.run(for: .milliseconds(1800))
    network.ask([Question(SimulatedNetwork.type.name(), .ptr)])
    network.log = []
    network.run(for: .milliseconds(3900))
    #expect(network.log.isEmpty)
  }

  @Test func `R34: early, unicast, truncated or better-informed questions do not suppress ours`() {
    let pointer = SimulatedNetwork.makePointer("known")
    let cases: [(wait: Int64, wantsUnicast: Bool, known: [Record], isTruncated: Bool)] = [
      (900, false, [], false), (1900, true, [], false), (1900, false, [pointer], false),
      (1900, false, [], true),
    ]
    for (wait, wantsUnicast, known, isTruncated) in cases {
      var network = makeBrowsing()
      network.run(for: .milliseconds(120))
      #expect(network.log.count == 1)
      network.run(until: network.log[0].at, after: .milliseconds(1000 + wait))
      network.log = []
      network.ask(
        [Question(SimulatedNetwork.type.name(), .ptr, wantsUnicast: wantsUnicast)], known: known,
        isTruncated: isTruncated)
      network.run(for: .milliseconds(2000 - wait + 50))
      #expect(network.log.count == 1)
    }
  }

  @Test func `R34: another host's known answers do not matter if we know them too`() {
    var network = makeBrowsing()
    network.respond([SimulatedNetwork.makePointer()])
    network.run(for: .milliseconds(1))
    network.ask(
      [Question(SimulatedNetwork.type.name(), .ptr)], known: [SimulatedNetwork.makePointer()])
    network.run(for: .milliseconds(900))
    #expect(network.questions(0, .ptr).isEmpty)
  }

  @Test func `R34: hosts that browse for the same type share their questions`() {
    var network = SimulatedNetwork()
    for host in 1...10 as ClosedRange<UInt8> { network.addNode(host) }
    for node in 0..<10 { network.browse(node) }
    network.run(for: .seconds(600))
    // A host alone sends eleven queries in this time.
    #expect(network.log.count <= 30)
  }

  @Test func `R8: questions that started together stay in the same packets`() {
    var network = makeBrowsing()
    network.browse(0, .types())
    network.run(for: .seconds(100))
    #expect(network.log.count == 7)
    #expect(network.log.allSatisfy { $0.message.questions.count == 2 })
  }
}

extension SimulatedNetwork {
  /// Advances the time to `delay` after `start`.
  fileprivate mutating func run(until start: Instant, after delay: Duration) {
    run(for: now.duration(to: start.advanced(by: delay)))
  }
}
