import CaromCore
import CaromDNS
import Testing

/// Rules for removing services and records.
@Suite struct LifeRuleTests {
  /// A publisher, and a browser that has found its service.
  private func makePair() -> (network: SimulatedNetwork, service: PublicationID) {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    let id = network.publish(0)
    network.browse(1)
    network.run(for: .seconds(60))
    network.log = []
    return (network, id)
  }

  /// A browser that has received one PTR record.
  private func makeFound(life: UInt32 = 4500) -> SimulatedNetwork {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.browse(0)
    network.respond(
      [SimulatedNetwork.makePointer(life: life)], additionals: [SimulatedNetwork.makeText([:])])
    return network
  }

  @Test func `R52: a goodbye removes the service once, a second later`() throws {
    var (network, id) = makePair()
    let start = network.now
    network.with(0) { $0.withdraw(id, at: $1) }
    network.run(for: .seconds(20))
    #expect(network.changes(1) == ["+Maya's table", "-Maya's table"])
    let removed = try #require(network.nodes[1].events.last?.at)
    #expect(removed - start >= .seconds(1) && removed - start <= .milliseconds(1100))
  }

  @Test func `R52: a service repeated within a second of its goodbye is not removed`() {
    var network = makeFound()
    network.respond([SimulatedNetwork.makePointer(life: 0)])
    network.run(for: .milliseconds(900))
    network.respond([SimulatedNetwork.makePointer()])
    network.run(for: .seconds(3))
    #expect(network.changes(0) == ["+Maya's table"])
  }

  @Test func `R52: a goodbye for an unknown record is ignored`() {
    var network = makeFound()
    network.respond([SimulatedNetwork.makePointer("other", life: 0)])
    network.run(for: .seconds(3))
    #expect(network.changes(0) == ["+Maya's table"])
  }

  @Test func `R53: new data of a unique set replaces the old data in resolves`() throws {
    var network = makeFound()
    network.respond([
      SimulatedNetwork.makeServer(port: 1), SimulatedNetwork.makeAddress(8),
      SimulatedNetwork.makeAddress(9),
    ])
    network.run(for: .milliseconds(1500))
    network.respond([SimulatedNetwork.makeServer(port: 2), SimulatedNetwork.makeAddress(9)])
    _ = network.resolve(0)
    let resolution = try #require(network.resolutions(0).first ?? nil)
    #expect(resolution.endpoints == [Endpoint(.v4(0x0A00_0009), port: 2)])
  }

  @Test func `R53: two addresses received within a second are both kept`() throws {
    var network = makeFound()
    network.respond([SimulatedNetwork.makeServer(), SimulatedNetwork.makeAddress(8)])
    network.run(for: .milliseconds(500))
    network.respond([SimulatedNetwork.makeAddress(9)])
    network.run(for: .seconds(5))
    #expect(network.nodes[0].machine.cachedRecords("host9.local", .a, at: network.now).count == 2)
  }

  @Test func `R55: a crashed service is removed when its record expires`() {
    var (network, _) = makePair()
    network.disconnected = [0]
    network.run(for: .seconds(4400))
    #expect(network.changes(1) == ["+Maya's table"])
    network.run(for: .seconds(101))
    #expect(network.changes(1) == ["+Maya's table", "-Maya's table"])
  }

  @Test func `R57: a reconfirmed service is removed within eleven seconds unless it responds`()
    throws
  {
    var (network, _) = makePair()
    network.with(1) { $0.reconfirm(SimulatedNetwork.makeInstance(), at: $1) }
    network.run(for: .seconds(30))
    #expect(network.changes(1) == ["+Maya's table"])
    network.disconnected = [0]
    let start = network.now
    network.log = []
    network.with(1) { $0.reconfirm(SimulatedNetwork.makeInstance(), at: $1) }
    network.run(for: .seconds(30))
    #expect(network.changes(1) == ["+Maya's table", "-Maya's table"])
    let removed = try #require(network.nodes[1].events.last?.at)
    #expect(removed - start >= .seconds(10) && removed - start <= .seconds(11))
    for type in [RecordType.ptr, .srv] {
      let asked = network.questions(1, type).filter { $0.at < removed }
      #expect(asked.count >= 2)
    }
  }

  @Test func `R57: a reconfirmed record without observers is queried at least twice`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.respond([SimulatedNetwork.makeAddress()])
    network.with(0) { $0.reconfirm(SimulatedNetwork.makeAddress(), at: $1) }
    network.run(for: .seconds(9))
    #expect(network.questions(0, .a).count >= 2)
    #expect(network.nodes[0].machine.cachedRecords("host9.local", .a, at: network.now).count == 1)
    network.run(for: .milliseconds(1001))
    #expect(network.nodes[0].machine.cachedRecords("host9.local", .a, at: network.now).isEmpty)
    network.log = []
    network.run(for: .seconds(1000))
    #expect(network.log.isEmpty)
  }

  @Test func `R57: an unknown record is not reconfirmed`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.with(0) { $0.reconfirm(SimulatedNetwork.makeAddress(), at: $1) }
    network.run(for: .seconds(20))
    #expect(network.log.isEmpty)
  }

  @Test func `R57: at most 1024 records are reconfirmed at a time`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    let records = (0..<Querier.reconfirmLimit + 10).map { index in
      Record(Name(junk: index), .address(.v4(1)), timeToLive: 120, flushesCache: true)
    }
    for start in stride(from: 0, to: records.count, by: 40) {
      network.respond(
        Array(records[start..<min(start + 40, records.count)]), from: UInt8(start / 400 + 9))
    }
    network.with(0) { machine, now in
      for record in records { machine.reconfirm(record, at: now) }
    }
    network.run(for: .seconds(11))
    let left = records.count {
      !network.nodes[0].machine.cachedRecords($0.name, .a, at: network.now).isEmpty
    }
    #expect(left == 10)
  }

  @Test func `R58: two unanswered queries within ten seconds remove a record`()
    throws
  {
    var network = makeFound()
    network.run(for: .seconds(8))
    network.log = []
    let start = network.now
    network.ask([Question(SimulatedNetwork.type.name(), .ptr)])
    network.run(for: .seconds(3))
    network.ask([Question(SimulatedNetwork.type.name(), .ptr)], from: 8)
    network.run(for: .milliseconds(6990))
    #expect(network.changes(0) == ["+Maya's table"])
    network.run(for: .milliseconds(20))
    #expect(network.changes(0) == ["+Maya's table", "-Maya's table"])
    let removed = try #require(network.nodes[0].events.last?.at)
    #expect(removed - start <= .milliseconds(10_001))
    // Only the browse's own query was sent, which was due at 15 s.
    #expect(network.log.count == 1)
  }

  @Test func `R58: answered, known-answer, unicast and single queries do not remove a record`() {
    let question = Question(SimulatedNetwork.type.name(), .ptr)
    let kinds: [(Question, known: [Record], count: Int, isAnswered: Bool)] = [
      (question, [], 2, true), (question, [SimulatedNetwork.makePointer()], 5, false),
      (question, [], 1, false),
      (Question(SimulatedNetwork.type.name(), .ptr, wantsUnicast: true), [], 5, false),
    ]
    for (question, known, count, isAnswered) in kinds {
      var network = makeFound()
      network.run(for: .seconds(60))
      for _ in 0..<count {
        network.ask([question], known: known)
        network.run(for: .milliseconds(1100))
      }
      if isAnswered { network.respond([SimulatedNetwork.makePointer()]) }
      network.run(for: .seconds(60))
      #expect(network.changes(0) == ["+Maya's table"])
    }
  }

  @Test func `R58: queries more than ten seconds apart do not remove a record`() {
    var network = makeFound()
    for _ in 0..<5 {
      network.run(for: .seconds(11))
      network.ask([Question(SimulatedNetwork.type.name(), .ptr)])
    }
    network.run(for: .seconds(20))
    #expect(network.changes(0) == ["+Maya's table"])
  }

  @Test func `R58: our own unanswered queries do not remove a record`() {
    var network = makeFound()
    network.ask([Question(SimulatedNetwork.type.name(), .ptr)], from: 1)
    network.run(for: .seconds(2))
    network.ask([Question(SimulatedNetwork.type.name(), .ptr)], from: 1)
    network.run(for: .seconds(30))
    #expect(network.changes(0) == ["+Maya's table"])
  }

  @Test func `a record with a tiny time to live does not cause polling`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    _ = network.with(0) { $0.query("host9.local", .a, at: $1) }
    var seen = 0
    let end = network.now.advanced(by: .seconds(300))
    while network.run(until: end, { $0.questions(0, .a).count > seen }) {
      seen += 1
      network.respond([SimulatedNetwork.makeAddress(life: 1)])
    }
    #expect(seen <= 300 / 15 + 1)
  }
}
