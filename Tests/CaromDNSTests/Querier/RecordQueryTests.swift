import CaromCore
import CaromDNS
import Testing

@Suite struct RecordQueryTests {
  private func query(_ network: inout SimulatedNetwork, _ name: Name, _ type: RecordType) throws
    -> QueryID
  {
    try #require(network.with(0) { $0.query(name, type, at: $1) })
  }

  @Test func `records of any type are reported once for each interface, and again when removed`()
    throws
  {
    var network = SimulatedNetwork.makeWithOneNode()
    let id = try query(&network, "host9.local", RecordType(rawValue: 13))
    network.run(for: .milliseconds(200))
    #expect(network.questions(0, RecordType(rawValue: 13)).count == 1)
    let record = Record(
      "host9.local", .raw(RecordType(rawValue: 13), [1, 2]), timeToLive: 120, flushesCache: true)
    for _ in 0..<3 { network.respond([record, SimulatedNetwork.makeAddress()]) }
    #expect(network.querierEvents(0) == [.recordAdded(id, record, interface: 2)])
    network.run(for: .seconds(121))
    #expect(network.querierEvents(0).last == .recordRemoved(id, record, interface: 2))
    network.with(0) { machine, _ in machine.stopQuery(id) }
    network.log = []
    network.respond([record])
    network.run(for: .seconds(100))
    #expect(network.querierEvents(0).count == 2)
    #expect(network.log.isEmpty)
  }

  @Test func `a query for any type reports all records of the name`() throws {
    var network = SimulatedNetwork.makeWithOneNode()
    network.respond([SimulatedNetwork.makeAddress()])
    let id = try query(&network, "host9.local", .any)
    let other = Record("host9.local", .text([0]), timeToLive: 120, flushesCache: true)
    network.respond([other, SimulatedNetwork.makeText([:])])
    #expect(
      network.querierEvents(0) == [
        .recordAdded(id, SimulatedNetwork.makeAddress(), interface: 2),
        .recordAdded(id, other, interface: 2),
      ])
  }

  @Test func `cached records can be read without a query`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.respond([SimulatedNetwork.makeAddress(), SimulatedNetwork.makeAddress(8)])
    network.run(for: .seconds(20))
    network.log = []
    let known = network.nodes[0].machine.cachedRecords("HOST9.local", .a, at: network.now)
    #expect(
      known.map(\.record) == [SimulatedNetwork.makeAddress(), SimulatedNetwork.makeAddress(8)])
    #expect(known.map(\.interface) == [2, 2])
    #expect(known.allSatisfy { $0.timeLeft > .seconds(99) && $0.timeLeft <= .seconds(100) })
    #expect(network.nodes[0].machine.cachedRecords("host9.local", .any, at: network.now).count == 2)
    #expect(network.log.isEmpty)
  }

  @Test func `a TXT record monitor reports the record, its changes and its removal`() throws {
    var network = SimulatedNetwork.makeWithOneNode()
    let id = try #require(
      network.with(0) { $0.monitorText(of: SimulatedNetwork.makeInstance(), at: $1) })
    network.respond([SimulatedNetwork.makeText(["seats": "1/2"])])
    network.respond([SimulatedNetwork.makeText(["seats": "1/2"])])
    network.run(for: .seconds(2))
    network.respond([SimulatedNetwork.makeText(["seats": "2/2"])])
    network.run(for: .seconds(2))
    network.respond([SimulatedNetwork.makeText(["seats": "2/2"], life: 0)])
    network.run(for: .seconds(2))
    #expect(
      network.querierEvents(0) == [
        .text(id, ["seats": "1/2"]), .text(id, ["seats": "2/2"]), .text(id, nil),
      ])
    network.with(0) { machine, _ in machine.stopMonitoring(id) }
    network.respond([SimulatedNetwork.makeText(["seats": "1/2"])])
    #expect(network.querierEvents(0).count == 3)
  }

  @Test func `a TXT record monitor reports a cached record at once`() throws {
    var network = SimulatedNetwork.makeWithOneNode()
    network.respond([SimulatedNetwork.makeText(["seats": "1/2"])])
    let id = try #require(
      network.with(0) { $0.monitorText(of: SimulatedNetwork.makeInstance(), at: $1) })
    #expect(network.querierEvents(0) == [.text(id, ["seats": "1/2"])])
    network.run(for: .seconds(10))
    #expect(network.questions(0, .txt).isEmpty)
  }

  @Test func `the numbers of queries and TXT record monitors are limited`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.with(0) { machine, now in
      for index in 0..<Querier.queryLimit {
        #expect(machine.query(SimulatedNetwork.makeInstance("\(index)"), .a, at: now) != nil)
      }
      #expect(machine.query("a.local", .a, at: now) == nil)
      for index in 0..<Querier.monitorLimit {
        #expect(machine.monitorText(of: SimulatedNetwork.makeInstance("\(index)"), at: now) != nil)
      }
      #expect(machine.monitorText(of: "a.local", at: now) == nil)
    }
  }

  @Test func `the events of one message are polled together`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0)
    var message = Message(isResponse: true)
    message.answers = [
      SimulatedNetwork.makePointer("A"), SimulatedNetwork.makePointer("B"),
      SimulatedNetwork.makePointer("C"),
    ]
    let datagram = Datagram(
      message.encoded(), from: Endpoint(.v4(0x0A00_0009), port: 5353), to: MulticastGroup.v4,
      interface: 2)
    network.nodes[0].machine.handle(datagram, at: network.now)
    var more: [Bool] = []
    while network.nodes[0].machine.pollEvent() != nil {
      more.append(network.nodes[0].machine.hasMoreEvents)
    }
    #expect(more == [true, true, false])
  }
}
