import CaromCore
import CaromDNS
import Testing

/// What is not asked, and what is not answered again.
@Suite struct TrafficRuleTests {
  private func makeBrowsing() -> Hub {
    var hub = Hub()
    hub.addNode(1)
    hub.browse(0)
    return hub
  }

  @Test func `R30: a query lists the shared answers that have more than half of their life`() {
    var hub = makeBrowsing()
    hub.say([Hub.makePointer("long"), Hub.makePointer("short", life: 4)])
    var flushing = Hub.makePointer("unique")
    flushing.flushesCache = true
    hub.run(for: .milliseconds(1500))
    let known = hub.log.map { $0.message.answers.map(\.data) }
    let long = RecordData.pointer(Hub.makeInstance("long"))
    let short = RecordData.pointer(Hub.makeInstance("short"))
    #expect(known == [[long, short], [long, short]])
    hub.run(for: .milliseconds(2000))
    #expect(hub.log.last?.message.answers.map(\.data) == [long])
    #expect(hub.log.allSatisfy { $0.message.answers.allSatisfy { !$0.flushesCache } })
    #expect(hub.log.last?.message.answers.first?.timeToLive == 4496)
  }

  @Test func `R30: unique answers are not listed`() {
    var hub = makeBrowsing()
    _ = hub.with(0) { $0.query("host9.local", .a, at: $1) }
    hub.say([Hub.makeAddress()])
    hub.run(for: .seconds(100))
    #expect(hub.log.allSatisfy { $0.message.answers.isEmpty })
  }

  @Test func `R31: known answers and authority records of others are not kept`() {
    var hub = makeBrowsing()
    hub.ask(
      [Question(Hub.type.name(), .ptr)], known: [Hub.makePointer()],
      authorities: [Hub.makePointer("probed")])
    var response = Message(isResponse: true)
    response.authorities = [Hub.makePointer("authority")]
    hub.inject(response, from: 9)
    hub.run(for: .seconds(5))
    #expect(hub.changes(0).isEmpty)
    #expect(hub.nodes[0].machine.cachedRecords(Hub.type.name(), .ptr, at: hub.now).isEmpty)
  }

  @Test func `R32: known answers that do not fit follow at once, all packets but the last say so`()
  {
    var hub = makeBrowsing()
    hub.say((0..<60).map { Hub.makePointer("a table with a rather long name \($0)") })
    let first = hub.run(until: hub.now.advanced(by: .seconds(1))) { !$0.log.isEmpty }
    #expect(first)
    let at = hub.now
    let train = hub.log.filter { $0.at == at && $0.message.questions.first?.key.type != .txt }
    #expect(train.count >= 2)
    #expect(train.map(\.message.isTruncated) == train.indices.map { $0 < train.count - 1 })
    #expect(train.dropFirst().allSatisfy { $0.message.questions.isEmpty })
    #expect(Set(train.flatMap(\.message.answers).map(\.identity)).count == 60)
    #expect(hub.log.allSatisfy { $0.outgoing.payload.count <= 1452 })
  }

  @Test func `R32: each packet of questions is followed by its own known answers`() {
    var hub = Hub()
    hub.addNode(1)
    for index in 0..<100 {
      hub.browse(0, .named(Hub.makeInstance("a name of some length \(index)")))
    }
    hub.say(
      (0..<100).map {
        Record(
          Hub.makeInstance("a name of some length \($0)"), .pointer("x.local"), timeToLive: 4500)
      })
    hub.log = []
    hub.run(for: .seconds(2))
    var asked: Set<Name> = []
    for packet in hub.log {
      if !packet.message.questions.isEmpty { asked = Set(packet.message.questions.map(\.key.name)) }
      #expect(packet.message.answers.allSatisfy { asked.contains($0.name) })
    }
    #expect(hub.log.count >= 4)
  }

  @Test func `R34: a question that another host just asked counts as ours`() throws {
    var hub = makeBrowsing()
    hub.ask([Question(Hub.type.name(), .ptr)])
    hub.run(for: .milliseconds(990))
    #expect(hub.log.isEmpty)
    hub.run(for: .milliseconds(100))
    #expect(hub.log.count == 1)
    // The next one is two seconds later; near to that, the other's counts again.
    hub.run(for: .milliseconds(1800))
    hub.ask([Question(Hub.type.name(), .ptr)])
    hub.log = []
    hub.run(for: .milliseconds(3900))
    #expect(hub.log.isEmpty)
  }

  @Test func `R34: not long before our turn, nor for unicast, nor if the asker knows more`() {
    let pointer = Hub.makePointer("known")
    let cases: [(wait: Int64, wantsUnicast: Bool, known: [Record], isTruncated: Bool)] = [
      (900, false, [], false), (1900, true, [], false), (1900, false, [pointer], false),
      (1900, false, [], true),
    ]
    for (wait, wantsUnicast, known, isTruncated) in cases {
      var hub = makeBrowsing()
      hub.run(for: .milliseconds(120))
      #expect(hub.log.count == 1)
      hub.run(until: hub.log[0].at, after: .milliseconds(1000 + wait))
      hub.log = []
      hub.ask(
        [Question(Hub.type.name(), .ptr, wantsUnicast: wantsUnicast)], known: known,
        isTruncated: isTruncated)
      hub.run(for: .milliseconds(2000 - wait + 50))
      #expect(hub.log.count == 1)
    }
  }

  @Test func `R34: known answers that are ours too do not matter`() {
    var hub = makeBrowsing()
    hub.say([Hub.makePointer()])
    hub.run(for: .milliseconds(1))
    hub.ask([Question(Hub.type.name(), .ptr)], known: [Hub.makePointer()])
    hub.run(for: .milliseconds(900))
    #expect(hub.questions(0, .ptr).isEmpty)
  }

  @Test func `R34: hosts that browse alike share their questions`() {
    var hub = Hub()
    for host in 1...10 as ClosedRange<UInt8> { hub.addNode(host) }
    for node in 0..<10 { hub.browse(node) }
    hub.run(for: .seconds(600))
    // One host alone asks eleven times in that time.
    #expect(hub.log.count <= 30)
  }

  @Test func `R8: what was opened together is asked together for ever`() {
    var hub = makeBrowsing()
    hub.browse(0, .types())
    hub.run(for: .seconds(100))
    #expect(hub.log.count == 7)
    #expect(hub.log.allSatisfy { $0.message.questions.count == 2 })
  }
}

extension Hub {
  /// Lets time pass until so long after a moment.
  fileprivate mutating func run(until start: Instant, after delay: Duration) {
    run(for: now.duration(to: start.advanced(by: delay)))
  }
}
