import CaromCore
import CaromDNS
import Testing

/// How what was found is lost again.
@Suite struct LifeRuleTests {
  /// A publisher and who found its service.
  private func makePair() -> (hub: Hub, service: PublicationID) {
    var hub = Hub()
    hub.addNode(1)
    hub.addNode(2)
    let id = hub.publish(0)
    hub.browse(1)
    hub.run(for: .seconds(60))
    hub.log = []
    return (hub, id)
  }

  /// A browsing that heard one PTR record.
  private func makeFound(life: UInt32 = 4500) -> Hub {
    var hub = Hub()
    hub.addNode(1)
    hub.browse(0)
    hub.say([Hub.makePointer(life: life)], additionals: [Hub.makeText([:])])
    return hub
  }

  @Test func `R52: a goodbye removes the service a second later, once`() throws {
    var (hub, id) = makePair()
    let start = hub.now
    hub.with(0) { $0.withdraw(id, at: $1) }
    hub.run(for: .seconds(20))
    #expect(hub.changes(1) == ["+Maya's table", "-Maya's table"])
    let removed = try #require(hub.nodes[1].events.last?.at)
    #expect(removed - start >= .seconds(1) && removed - start <= .milliseconds(1100))
  }

  @Test func `R52: a service that is said again within the second was never gone`() {
    var hub = makeFound()
    hub.say([Hub.makePointer(life: 0)])
    hub.run(for: .milliseconds(900))
    hub.say([Hub.makePointer()])
    hub.run(for: .seconds(3))
    #expect(hub.changes(0) == ["+Maya's table"])
  }

  @Test func `R52: a goodbye for what nobody knows is nothing`() {
    var hub = makeFound()
    hub.say([Hub.makePointer("other", life: 0)])
    hub.run(for: .seconds(3))
    #expect(hub.changes(0) == ["+Maya's table"])
  }

  @Test func `R53: new data of a unique set replaces the old for who resolves`() throws {
    var hub = makeFound()
    hub.say([Hub.makeServer(port: 1), Hub.makeAddress(8), Hub.makeAddress(9)])
    hub.run(for: .milliseconds(1500))
    hub.say([Hub.makeServer(port: 2), Hub.makeAddress(9)])
    _ = hub.resolve(0)
    let resolution = try #require(hub.resolutions(0).first ?? nil)
    #expect(resolution.endpoints == [Endpoint(.v4(0x0A00_0009), port: 2)])
  }

  @Test func `R53: two addresses that are told within a second are both true`() throws {
    var hub = makeFound()
    hub.say([Hub.makeServer(), Hub.makeAddress(8)])
    hub.run(for: .milliseconds(500))
    hub.say([Hub.makeAddress(9)])
    hub.run(for: .seconds(5))
    #expect(hub.nodes[0].machine.cachedRecords("host9.local", .a, at: hub.now).count == 2)
  }

  @Test func `R55: a service that crashed goes when its record expires`() {
    var (hub, _) = makePair()
    hub.cut = [0]
    hub.run(for: .seconds(4400))
    #expect(hub.changes(1) == ["+Maya's table"])
    hub.run(for: .seconds(101))
    #expect(hub.changes(1) == ["+Maya's table", "-Maya's table"])
  }

  @Test func `R57: a doubted service goes within eleven seconds, or stays if it answers`() throws {
    var (hub, _) = makePair()
    hub.with(1) { $0.reconfirm(Hub.makeInstance(), at: $1) }
    hub.run(for: .seconds(30))
    #expect(hub.changes(1) == ["+Maya's table"])
    hub.cut = [0]
    let start = hub.now
    hub.log = []
    hub.with(1) { $0.reconfirm(Hub.makeInstance(), at: $1) }
    hub.run(for: .seconds(30))
    #expect(hub.changes(1) == ["+Maya's table", "-Maya's table"])
    let removed = try #require(hub.nodes[1].events.last?.at)
    #expect(removed - start >= .seconds(10) && removed - start <= .seconds(11))
    for type in [RecordType.ptr, .srv] {
      let asked = hub.questions(1, type).filter { $0.at < removed }
      #expect(asked.count >= 2)
    }
  }

  @Test func `R57: a record that nobody watches is doubted by two questions at least`() {
    var hub = Hub()
    hub.addNode(1)
    hub.say([Hub.makeAddress()])
    hub.with(0) { $0.reconfirm(Hub.makeAddress(), at: $1) }
    hub.run(for: .seconds(9))
    #expect(hub.questions(0, .a).count >= 2)
    #expect(hub.nodes[0].machine.cachedRecords("host9.local", .a, at: hub.now).count == 1)
    hub.run(for: .milliseconds(1001))
    #expect(hub.nodes[0].machine.cachedRecords("host9.local", .a, at: hub.now).isEmpty)
    hub.log = []
    hub.run(for: .seconds(1000))
    #expect(hub.log.isEmpty)
  }

  @Test func `R57: what is not known is not asked for`() {
    var hub = Hub()
    hub.addNode(1)
    hub.with(0) { $0.reconfirm(Hub.makeAddress(), at: $1) }
    hub.run(for: .seconds(20))
    #expect(hub.log.isEmpty)
  }

  @Test func `R57: no more than 1024 records are doubted at a time`() {
    var hub = Hub()
    hub.addNode(1)
    let records = (0..<Querier.reconfirmLimit + 10).map { index in
      Record(Name(junk: index), .address(.v4(1)), timeToLive: 120, flushesCache: true)
    }
    for start in stride(from: 0, to: records.count, by: 40) {
      hub.say(Array(records[start..<min(start + 40, records.count)]), from: UInt8(start / 400 + 9))
    }
    hub.with(0) { machine, now in
      for record in records { machine.reconfirm(record, at: now) }
    }
    hub.run(for: .seconds(11))
    let left = records.count {
      !hub.nodes[0].machine.cachedRecords($0.name, .a, at: hub.now).isEmpty
    }
    #expect(left == 10)
  }

  @Test func `R58: two questions of others that stay unanswered for ten seconds end a record`()
    throws
  {
    var hub = makeFound()
    hub.run(for: .seconds(8))
    hub.log = []
    let start = hub.now
    hub.ask([Question(Hub.type.name(), .ptr)])
    hub.run(for: .seconds(3))
    hub.ask([Question(Hub.type.name(), .ptr)], from: 8)
    hub.run(for: .milliseconds(6990))
    #expect(hub.changes(0) == ["+Maya's table"])
    hub.run(for: .milliseconds(20))
    #expect(hub.changes(0) == ["+Maya's table", "-Maya's table"])
    let removed = try #require(hub.nodes[0].events.last?.at)
    #expect(removed - start <= .milliseconds(10_001))
    // Without questions of our own, but for the browsing's next, which was due at 15 s.
    #expect(hub.log.count == 1)
  }

  @Test func `R58: an answer, a known answer, a unicast question or a single one ends nothing`() {
    let question = Question(Hub.type.name(), .ptr)
    let kinds: [(Question, known: [Record], count: Int, isAnswered: Bool)] = [
      (question, [], 2, true), (question, [Hub.makePointer()], 5, false), (question, [], 1, false),
      (Question(Hub.type.name(), .ptr, wantsUnicast: true), [], 5, false),
    ]
    for (question, known, count, isAnswered) in kinds {
      var hub = makeFound()
      hub.run(for: .seconds(60))
      for _ in 0..<count {
        hub.ask([question], known: known)
        hub.run(for: .milliseconds(1100))
      }
      if isAnswered { hub.say([Hub.makePointer()]) }
      hub.run(for: .seconds(60))
      #expect(hub.changes(0) == ["+Maya's table"])
    }
  }

  @Test func `R58: questions more than ten seconds apart say nothing`() {
    var hub = makeFound()
    for _ in 0..<5 {
      hub.run(for: .seconds(11))
      hub.ask([Question(Hub.type.name(), .ptr)])
    }
    hub.run(for: .seconds(20))
    #expect(hub.changes(0) == ["+Maya's table"])
  }

  @Test func `R58: our own questions say nothing`() {
    var hub = makeFound()
    hub.ask([Question(Hub.type.name(), .ptr)], from: 1)
    hub.run(for: .seconds(2))
    hub.ask([Question(Hub.type.name(), .ptr)], from: 1)
    hub.run(for: .seconds(30))
    #expect(hub.changes(0) == ["+Maya's table"])
  }

  @Test func `a record of a tiny life causes no polling`() {
    var hub = Hub()
    hub.addNode(1)
    _ = hub.with(0) { $0.query("host9.local", .a, at: $1) }
    var seen = 0
    let end = hub.now.advanced(by: .seconds(300))
    while hub.run(until: end, { $0.questions(0, .a).count > seen }) {
      seen += 1
      hub.say([Hub.makeAddress(life: 1)])
    }
    #expect(seen <= 300 / 15 + 1)
  }
}
