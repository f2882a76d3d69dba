import CaromCore
import CaromDNS
import Testing

@Suite struct ConflictTests {
  @Test func `R49: the second publisher of a name becomes "X (2)" within 1.4 s`() throws {
    var hub = Hub()
    hub.addNode(1)
    hub.addNode(2)
    hub.publish(0)
    hub.run(for: .seconds(5))
    let start = hub.now
    hub.publish(1)
    hub.run(for: .seconds(5))
    #expect(hub.names(0) == ["Maya's table"])
    #expect(hub.names(1) == ["Maya's table (2)"])
    let published = try #require(hub.nodes[1].events.first?.at)
    #expect(published - start <= .milliseconds(1400))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `R39: publishers that start at once all end with names of their own`(seed: UInt64) {
    var hub = Hub(seed: seed)
    for host in 1...4 as ClosedRange<UInt8> { hub.addNode(host) }
    for node in 0..<4 { hub.publish(node, port: UInt16(1000 + node)) }
    hub.run(for: .seconds(15))
    let names = (0..<4).map { hub.names($0).last ?? "" }.sorted()
    #expect(
      names == ["Maya's table", "Maya's table (2)", "Maya's table (3)", "Maya's table (4)"])
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `R48: processes of one host share its name and are no conflict`(seed: UInt64) {
    var hub = Hub(seed: seed)
    for process in 0..<8 {
      hub.addNode(1, name: "shared")
      hub.publish(process, "table \(process)", port: UInt16(1000 + process))
    }
    hub.run(for: .seconds(10))
    for process in 0..<8 { #expect(hub.names(process) == ["table \(process)"]) }
    #expect(Set(hub.nodes.map(\.machine.hostName)) == ["shared.local"])
  }

  @Test func `R62: two interfaces on one link are no conflict and stay quiet`() {
    var hub = Hub()
    hub.addNode("host", [Hub.makeAttachment(0, 2, 1), Hub.makeAttachment(0, 3, 2)])
    hub.publish(0)
    hub.run(for: .seconds(600))
    #expect(hub.names(0) == ["Maya's table"])
    #expect(hub.probes(0).count <= 8)
    #expect(hub.log.count <= 16)
  }

  @Test func `R47: hosts of one name are told apart, and their services follow`() throws {
    var hub = Hub()
    hub.addNode(1, name: "host")
    hub.addNode(2, name: "host")
    hub.publish(0, "A")
    hub.run(for: .seconds(5))
    hub.publish(1, "B")
    hub.run(for: .seconds(5))
    #expect(hub.nodes[0].machine.hostName == "host.local")
    #expect(hub.nodes[1].machine.hostName == "host-2.local")
    let deadline = hub.now.advanced(by: .seconds(3))
    _ = hub.with(0) { $0.resolve(Hub.makeInstance("B"), deadline: deadline, at: $1) }
    hub.run(for: .seconds(3))
    let resolution = try #require(hub.resolutions(0).first ?? nil)
    #expect(resolution.endpoints == [Endpoint(.v4(0x0A00_0002), port: 7777)])
  }

  @Test func `R47: a split link that heals is noticed at the first packet that crosses`() {
    var hub = Hub()
    hub.addNode(1)
    hub.addNode(2)
    hub.cut = [1]
    hub.publish(0)
    hub.publish(1)
    hub.run(for: .seconds(10))
    #expect(hub.names(1).isEmpty || hub.names(1) == ["Maya's table"])
    hub.cut = []
    hub.addNode(3)
    hub.browse(2)
    hub.run(for: .seconds(6))
    #expect(Set([0, 1].map { hub.names($0).last }) == ["Maya's table", "Maya's table (2)"])
  }

  @Test func `R49: a name that may not change fails, once`() {
    var hub = Hub()
    hub.addNode(1)
    hub.addNode(2)
    hub.publish(0)
    hub.run(for: .seconds(5))
    var service = Hub.makeService()
    service.renames = false
    let id = hub.publish(1, service)
    hub.run(for: .seconds(5))
    #expect(hub.nodes[1].events.map(\.event) == [.responder(.failed(id, .nameTaken))])
  }

  @Test func `R40 R49: a host that denies every name is given up after a minute, with few probes`()
  {
    var hub = Hub()
    hub.addNode(1)
    let id = hub.publish(0)
    let end = hub.now.advanced(by: .seconds(120))
    var seen = 0
    while hub.run(until: end, { $0.probes(0).count > seen }) {
      let probe = hub.probes(0)[seen]
      seen += 1
      var denial = Message(isResponse: true)
      for question in probe.message.questions where question.key.name != "host1.local" {
        denial.answers.append(Record(question.key.name, .text([1, 65]), timeToLive: 120))
      }
      if !denial.answers.isEmpty { hub.inject(denial, from: 66) }
    }
    #expect(hub.nodes[0].events.map(\.event) == [.responder(.failed(id, .noFreeName))])
    #expect(seen <= 15 + 13 + 3)
  }

  @Test func `R39: a tiebreak is won by the later data and by the longer set`() {
    let low = Record("a.local", .address(.v4(1)), timeToLive: 1)
    let high = Record("a.local", .address(.v4(0xC800_0000)), timeToLive: 9)
    let text = Record("a.local", .text([0]), timeToLive: 1)
    #expect(Prober.tiebreak([low], [high]) == .lost)
    #expect(Prober.tiebreak([high], [low]) == .won)
    #expect(Prober.tiebreak([high, low], [low, high]) == .same)
    #expect(Prober.tiebreak([low], [text, low]) == .lost)
    #expect(Prober.tiebreak([text], [low, high]) == .won)
  }

  @Test func `R49: a successor name counts up and fits 63 bytes`() {
    #expect(InstanceName.successor(of: "X") == "X (2)")
    #expect(InstanceName.successor(of: "X (2)") == "X (3)")
    #expect(InstanceName.successor(of: "X (9)") == "X (10)")
    #expect(InstanceName.successor(of: "(2)") == "(2) (2)")
    #expect(InstanceName.hostSuccessor(of: "host-2") == "host-3")
    let long = String(repeating: "é", count: 31)
    #expect(InstanceName.successor(of: long).utf8.count <= 63)
    #expect(InstanceName.successor(of: long).hasSuffix("é (2)"))
  }
}
