import CaromCore
import CaromDNS
import Testing

@Suite struct RecordQueryTests {
  private func makeHub() -> Hub {
    var hub = Hub()
    hub.addNode(1)
    return hub
  }

  private func query(_ hub: inout Hub, _ name: Name, _ type: RecordType) throws -> QueryID {
    try #require(hub.with(0) { $0.query(name, type, at: $1) })
  }

  @Test func `records of any type are told once, with their interface, and when they go`() throws {
    var hub = makeHub()
    let id = try query(&hub, "host9.local", RecordType(rawValue: 13))
    hub.run(for: .milliseconds(200))
    #expect(hub.questions(0, RecordType(rawValue: 13)).count == 1)
    let record = Record(
      "host9.local", .raw(RecordType(rawValue: 13), [1, 2]), timeToLive: 120, flushesCache: true)
    for _ in 0..<3 { hub.say([record, Hub.makeAddress()]) }
    #expect(hub.told(0) == [.recordAdded(id, record, interface: 2)])
    hub.run(for: .seconds(121))
    #expect(hub.told(0).last == .recordRemoved(id, record, interface: 2))
    hub.with(0) { machine, _ in machine.stopQuery(id) }
    hub.log = []
    hub.say([record])
    hub.run(for: .seconds(100))
    #expect(hub.told(0).count == 2)
    #expect(hub.log.isEmpty)
  }

  @Test func `a query for any type is told of all records of the name`() throws {
    var hub = makeHub()
    hub.say([Hub.makeAddress()])
    let id = try query(&hub, "host9.local", .any)
    let other = Record("host9.local", .text([0]), timeToLive: 120, flushesCache: true)
    hub.say([other, Hub.makeText([:])])
    #expect(
      hub.told(0) == [
        .recordAdded(id, Hub.makeAddress(), interface: 2), .recordAdded(id, other, interface: 2),
      ])
  }

  @Test func `what is known can be had without a question`() {
    var hub = makeHub()
    hub.say([Hub.makeAddress(), Hub.makeAddress(8)])
    hub.run(for: .seconds(20))
    hub.log = []
    let known = hub.nodes[0].machine.cachedRecords("HOST9.local", .a, at: hub.now)
    #expect(known.map(\.record) == [Hub.makeAddress(), Hub.makeAddress(8)])
    #expect(known.map(\.interface) == [2, 2])
    #expect(known.allSatisfy { $0.timeLeft > .seconds(99) && $0.timeLeft <= .seconds(100) })
    #expect(hub.nodes[0].machine.cachedRecords("host9.local", .any, at: hub.now).count == 2)
    #expect(hub.log.isEmpty)
  }

  @Test func `strings are monitored: what they are, how they change, that they vanish`() throws {
    var hub = makeHub()
    let id = try #require(hub.with(0) { $0.monitorText(of: Hub.makeInstance(), at: $1) })
    hub.say([Hub.makeText(["seats": "1/2"])])
    hub.say([Hub.makeText(["seats": "1/2"])])
    hub.run(for: .seconds(2))
    hub.say([Hub.makeText(["seats": "2/2"])])
    hub.run(for: .seconds(2))
    hub.say([Hub.makeText(["seats": "2/2"], life: 0)])
    hub.run(for: .seconds(2))
    #expect(
      hub.told(0) == [.text(id, ["seats": "1/2"]), .text(id, ["seats": "2/2"]), .text(id, nil)])
    hub.with(0) { machine, _ in machine.stopMonitoring(id) }
    hub.say([Hub.makeText(["seats": "1/2"])])
    #expect(hub.told(0).count == 3)
  }

  @Test func `what was told before monitoring began is told at once`() throws {
    var hub = makeHub()
    hub.say([Hub.makeText(["seats": "1/2"])])
    let id = try #require(hub.with(0) { $0.monitorText(of: Hub.makeInstance(), at: $1) })
    #expect(hub.told(0) == [.text(id, ["seats": "1/2"])])
    hub.run(for: .seconds(10))
    #expect(hub.questions(0, .txt).isEmpty)
  }

  @Test func `queries and monitorings are bounded`() {
    var hub = makeHub()
    hub.with(0) { machine, now in
      for index in 0..<Querier.queryLimit {
        #expect(machine.query(Hub.makeInstance("\(index)"), .a, at: now) != nil)
      }
      #expect(machine.query("a.local", .a, at: now) == nil)
      for index in 0..<Querier.monitorLimit {
        #expect(machine.monitorText(of: Hub.makeInstance("\(index)"), at: now) != nil)
      }
      #expect(machine.monitorText(of: "a.local", at: now) == nil)
    }
  }

  @Test func `what one message brings is told in one go`() {
    var hub = makeHub()
    hub.browse(0)
    var message = Message(isResponse: true)
    message.answers = [Hub.makePointer("A"), Hub.makePointer("B"), Hub.makePointer("C")]
    let datagram = Datagram(
      message.encoded(), from: Endpoint(.v4(0x0A00_0009), port: 5353), to: MulticastGroup.v4,
      interface: 2)
    hub.nodes[0].machine.handle(datagram, at: hub.now)
    var more: [Bool] = []
    while hub.nodes[0].machine.pollEvent() != nil {
      more.append(hub.nodes[0].machine.hasMoreEvents)
    }
    #expect(more == [true, true, false])
  }
}
