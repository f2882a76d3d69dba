import CaromCore
import CaromDNS
import Testing

/// Which unicast responses are used (RFC 6762 §5.4, §6).
@Suite struct UnicastResponseTests {
  /// A network whose node has asked one question, with a request for a unicast response.
  private func makeNetwork(asking type: RecordType) -> SimulatedNetwork {
    var network = SimulatedNetwork()
    network.addNode(1)
    var attachments = network.nodes[0].attachments
    attachments[0].link.receivesUnicast = true
    network.setLinks(0, attachments)
    _ = network.with(0) { $0.query("host9.local", type, at: $1) }
    network.run(for: .milliseconds(200))
    return network
  }

  /// Sends a response to the node alone, and returns the number of events that it causes.
  private func respond(_ network: inout SimulatedNetwork, _ answers: [Record]) -> Int {
    let count = network.querierEvents(0).count
    network.inject(
      SimulatedNetwork.makeResponse(answers).encoded(),
      from: Endpoint(.v4(0x0A00_0009), port: 5353), to: Endpoint(.v4(0x0A00_0001), port: 5353))
    network.run(for: .milliseconds(1))
    return network.querierEvents(0).count - count
  }

  @Test(
    arguments: [
      (.a, "host9.local", 1), (.aaaa, "host9.local", 0), (.any, "host9.local", 1),
      (.a, "HOST9.local", 1), (.a, "host8.local", 0), (.any, "host8.local", 0),
    ] as [(RecordType, Name, Int)])
  func `R10: a unicast response answers a question of its name and type, or of any type`(
    type: RecordType, name: Name, events: Int
  ) {
    var network = makeNetwork(asking: type)
    #expect(network.questions(0, type).map(\.question.wantsUnicast) == [true])
    let count = respond(&network, [SimulatedNetwork.makeAddress(of: name)])
    #expect(count == events)
    let cached = network.nodes[0].machine.cachedRecords(name, .a, at: network.now)
    #expect(cached.count == events)
  }

  @Test func `R10: all records of a response are used if one of them is an answer`() {
    var network = makeNetwork(asking: .a)
    let other = SimulatedNetwork.makeText([:])
    #expect(respond(&network, [other]) == 0)
    let instance = SimulatedNetwork.makeInstance()
    #expect(network.nodes[0].machine.cachedRecords(instance, .txt, at: network.now).isEmpty)
    #expect(respond(&network, [other, SimulatedNetwork.makeAddress()]) == 1)
    #expect(network.nodes[0].machine.cachedRecords(instance, .txt, at: network.now).count == 1)
  }

  @Test func `R10: an answer among the additional records alone does not count`() {
    var network = makeNetwork(asking: .a)
    var message = SimulatedNetwork.makeResponse([])
    message.additionals = [SimulatedNetwork.makeAddress()]
    network.inject(
      message.encoded(), from: Endpoint(.v4(0x0A00_0009), port: 5353),
      to: Endpoint(.v4(0x0A00_0001), port: 5353))
    network.run(for: .milliseconds(1))
    #expect(network.querierEvents(0).isEmpty)
  }
}
