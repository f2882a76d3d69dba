import CaromCore
import CaromDNS
import Testing

/// Goodbyes that were not sent by the owner of the record.
@Suite struct GoodbyeTests {
  private static let goodbye = SimulatedNetwork.makePointer(life: 0)
  /// A source outside the link's subnet.
  private static let outside = Endpoint(.v4(0xC0A8_0109), port: 5353)

  /// A network in which a node has found a service of 10.0.0.9 and sends no query for some seconds.
  private func makeFound() -> SimulatedNetwork {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.browse(0)
    network.respond(
      [SimulatedNetwork.makePointer()], additionals: [SimulatedNetwork.makeText([:])])
    network.run(for: .seconds(20))
    network.log = []
    return network
  }

  @Test func `R52: a service remains if its host answers the question after a goodbye`() {
    var network = makeFound()
    for _ in 0..<3 {
      network.respond([Self.goodbye], from: 66)
      network.run(for: .milliseconds(200))
      network.respond([SimulatedNetwork.makePointer()])
      network.run(for: .milliseconds(2000))
    }
    #expect(network.questions(0, .ptr).count == 3)
    #expect(network.changes(0) == ["+Maya's table"])
  }

  @Test func `R52: the question after a goodbye is asked once and lists no withdrawn record`() {
    var network = makeFound()
    for _ in 0..<3 {
      network.respond([Self.goodbye])
      network.run(for: .milliseconds(200))
    }
    #expect(network.log.map(\.message.questions.count) == [1])
    #expect(network.log[0].message.answers.isEmpty)
    #expect(network.changes(0) == ["+Maya's table"])
    network.run(for: .milliseconds(400))
    #expect(network.changes(0) == ["+Maya's table", "-Maya's table"])
    #expect(network.log.count == 1)
  }

  @Test func `R3 R52: within a second of a query, the question after a goodbye waits`() throws {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.browse(0)
    network.run(for: .milliseconds(150))
    let first = try #require(network.questions(0, .ptr).first)
    network.respond([SimulatedNetwork.makePointer()])
    network.respond([Self.goodbye], from: 66)
    network.run(for: .milliseconds(1000))
    let asked = network.questions(0, .ptr).map(\.at)
    #expect(asked.count == 2 && asked[1] - first.at >= .seconds(1))
    network.respond([SimulatedNetwork.makePointer()])
    network.run(for: .milliseconds(1000))
    #expect(network.changes(0) == ["+Maya's table"])
  }

  @Test func `R52: a goodbye for a queried address is asked after`() {
    var network = makeFound()
    network.respond([SimulatedNetwork.makeAddress()])
    _ = network.with(0) { $0.query("host9.local", .a, at: $1) }
    network.respond([SimulatedNetwork.makeAddress(life: 0)], from: 66)
    network.run(for: .milliseconds(200))
    #expect(network.questions(0, .a).count == 1)
    network.respond([SimulatedNetwork.makeAddress()])
    network.run(for: .seconds(2))
    #expect(network.nodes[0].machine.cachedRecords("host9.local", .a, at: network.now).count == 1)
  }

  @Test func `R52: goodbyes for records that no request needs are not asked after`() {
    var network = makeFound()
    network.respond([SimulatedNetwork.makeServer(), SimulatedNetwork.makeAddress()])
    network.respond(
      [SimulatedNetwork.makeServer(life: 0), SimulatedNetwork.makeAddress(life: 0)])
    network.run(for: .seconds(2))
    #expect(network.log.isEmpty)
  }

  @Test func `R59: records from outside the link remove nothing`() {
    var other = SimulatedNetwork.makeText(["seats": "9"])
    other.timeToLive = 10
    let records = [
      Self.goodbye, SimulatedNetwork.makePointer(life: 1), other,
      SimulatedNetwork.makeText([:], life: 0),
    ]
    var network = makeFound()
    for record in records {
      network.inject(SimulatedNetwork.makeResponse([record]).encoded(), from: Self.outside)
    }
    network.run(for: .seconds(5))
    #expect(!network.changes(0).contains("-Maya's table"))
    let name = SimulatedNetwork.makeInstance()
    let texts = network.nodes[0].machine.cachedRecords(name, .txt, at: network.now)
    #expect(texts.contains { $0.record.data == .text(TXTRecord().encoded) })
  }

  @Test func `R58: unanswered queries from outside the link remove nothing`() {
    var network = makeFound()
    for _ in 0..<2 {
      let query = SimulatedNetwork.makeQuery([Question(SimulatedNetwork.type.name(), .ptr)])
      network.inject(query.encoded(), from: Self.outside)
      network.run(for: .seconds(2))
    }
    network.run(for: .seconds(12))
    #expect(network.changes(0) == ["+Maya's table"])
  }

  @Test func `records from many sources outside the link displace no service of the link`() {
    var network = makeFound()
    for number in 0..<UInt32(RecordCache.pointerCapacity + 500) {
      let fake = SimulatedNetwork.makePointer("fake \(number)")
      let source = Endpoint(.v4(0xC0A8_0000 + number), port: 5353)
      network.inject(SimulatedNetwork.makeResponse([fake]).encoded(), from: source)
    }
    network.run(for: .seconds(1))
    #expect(!network.changes(0).contains("-Maya's table"))
  }
}
