import CaromCore
import CaromDNS
import Testing

@Suite struct ConflictTests {
  @Test func `R49: the second publisher of a name is renamed to "X (2)" within 1.4 s`() throws {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    network.publish(0)
    network.run(for: .seconds(5))
    let start = network.now
    network.publish(1)
    network.run(for: .seconds(5))
    #expect(network.names(0) == ["Maya's table"])
    #expect(network.names(1) == ["Maya's table (2)"])
    let published = try #require(network.nodes[1].events.first?.at)
    #expect(published - start <= .milliseconds(1400))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `R39: simultaneous publishers end up with different names`(seed: UInt64) {
    var network = SimulatedNetwork(seed: seed)
    for host in 1...4 as ClosedRange<UInt8> { network.addNode(host) }
    for node in 0..<4 { network.publish(node, port: UInt16(1000 + node)) }
    network.run(for: .seconds(15))
    let names = Set((0..<4).compactMap { network.names($0).last })
    #expect(names.count == 4)
    #expect(names.isSuperset(of: ["Maya's table", "Maya's table (2)", "Maya's table (3)"]))
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `R48: processes on one host share its name without a conflict`(seed: UInt64) {
    var network = SimulatedNetwork(seed: seed)
    for process in 0..<8 {
      network.addNode(1, name: "shared")
      network.publish(process, "table \(process)", port: UInt16(1000 + process))
    }
    network.run(for: .seconds(10))
    for process in 0..<8 { #expect(network.names(process) == ["table \(process)"]) }
    #expect(Set(network.nodes.map(\.machine.hostName)) == ["shared.local"])
  }

  @Test func `R62: two interfaces on one link cause no conflict and little traffic`() {
    var network = SimulatedNetwork()
    network.addNode(
      "host", [SimulatedNetwork.makeAttachment(0, 2, 1), SimulatedNetwork.makeAttachment(0, 3, 2)])
    network.publish(0)
    network.run(for: .seconds(600))
    #expect(network.names(0) == ["Maya's table"])
    #expect(network.probes(0).count <= 8)
    #expect(network.log.count <= 16)
  }

  @Test func `R47: hosts with the same name get different ones, and services follow`() throws {
    var network = SimulatedNetwork()
    network.addNode(1, name: "host")
    network.addNode(2, name: "host")
    network.publish(0, "A")
    network.run(for: .seconds(5))
    network.publish(1, "B")
    network.run(for: .seconds(5))
    #expect(network.nodes[0].machine.hostName == "host.local")
    #expect(network.nodes[1].machine.hostName == "host-2.local")
    let deadline = network.now.advanced(by: .seconds(3))
    _ = network.with(0) {
      $0.resolve(SimulatedNetwork.makeInstance("B"), deadline: deadline, at: $1)
    }
    network.run(for: .seconds(3))
    let resolution = try #require(network.resolutions(0).first ?? nil)
    #expect(resolution.endpoints == [Endpoint(.v4(0x0A00_0002), port: 7777)])
  }

  @Test func `R47: after a split link heals, conflicts are detected by the first packet`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    network.disconnected = [1]
    network.publish(0)
    network.publish(1)
    network.run(for: .seconds(10))
    #expect(network.names(1).isEmpty || network.names(1) == ["Maya's table"])
    network.disconnected = []
    network.addNode(3)
    network.browse(2)
    network.run(for: .seconds(6))
    #expect(Set([0, 1].map { network.names($0).last }) == ["Maya's table", "Maya's table (2)"])
  }

  @Test func `R49: a service that may not be renamed fails once`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    network.publish(0)
    network.run(for: .seconds(5))
    var service = SimulatedNetwork.makeService()
    service.renames = false
    let id = network.publish(1, service)
    network.run(for: .seconds(5))
    #expect(network.nodes[1].events.map(\.event) == [.responder(.failed(id, .nameTaken))])
  }

  @Test func `R40 R49: if every name is denied, publishing fails after a minute with few probes`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    let id = network.publish(0)
    let end = network.now.advanced(by: .seconds(120))
    var seen = 0
    while network.run(until: end, { $0.probes(0).count > seen }) {
      let probe = network.probes(0)[seen]
      seen += 1
      var denial = Message(isResponse: true)
      for question in probe.message.questions where question.key.name != "host1.local" {
        denial.answers.append(Record(question.key.name, .text([1, 65]), timeToLive: 120))
      }
      if !denial.answers.isEmpty { network.inject(denial, from: 66) }
    }
    #expect(network.nodes[0].events.map(\.event) == [.responder(.failed(id, .noFreeName))])
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

  @Test func `R49: a successor name counts up and fits into 63 bytes`() {
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
