import CaromCore
import CaromDNS
import Testing

@Suite struct KnownAnswerTests {
  private let type = Question(SimulatedNetwork.type.name(), .ptr)

  private func makePointer(_ label: String) -> Record {
    Record(
      SimulatedNetwork.type.name(), .pointer(SimulatedNetwork.makeInstance(label)), timeToLive: 4500
    )
  }

  /// A network whose node publishes services named "0", "1" and so on.
  private func makeServices(_ count: Int) -> SimulatedNetwork {
    var network = SimulatedNetwork()
    network.addNode(1)
    for index in 0..<count { network.publish(0, "\(index)") }
    network.run(for: .seconds(5))
    network.log = []
    return network
  }

  private func makePart(_ label: String? = nil, asks: Bool = false, isLast: Bool = false)
    -> Message
  {
    var part = SimulatedNetwork.makeQuery(
      asks ? [type] : [], known: label.map { [makePointer($0)] } ?? [])
    part.isTruncated = !isLast
    return part
  }

  private func pointers(_ network: SimulatedNetwork) -> [RecordData] {
    network.packets(0, responses: true).flatMap(\.message.answers).map(\.data)
  }

  @Test func `R33: further packets delay the answer and remove the records that they list`() throws
  {
    var network = makeServices(5)
    let start = network.now
    network.inject(makePart("0", asks: true), from: 9)
    network.run(for: .milliseconds(300))
    network.inject(makePart("1"), from: 9)
    network.run(for: .milliseconds(300))
    network.inject(makePart("2", isLast: true), from: 9)
    #expect(network.log.isEmpty)
    network.run(for: .seconds(1))
    #expect(pointers(network) == ["3", "4"].map { .pointer(SimulatedNetwork.makeInstance($0)) })
    let wait = try #require(network.log.first).at - start
    #expect((.milliseconds(700) ... .milliseconds(801)).contains(wait))
  }

  @Test func `R33: further packets delay the answer by at most a second`() throws {
    var network = makeServices(2)
    let start = network.now
    network.inject(makePart("0", asks: true), from: 9)
    for _ in 0..<15 {
      network.run(for: .milliseconds(100))
      network.inject(makePart("0"), from: 9)
    }
    #expect(pointers(network) == [.pointer(SimulatedNetwork.makeInstance("1"))])
    #expect(try #require(network.log.first).at - start <= .milliseconds(1001))
  }

  @Test func `R33: one querier's known answers do not suppress answers to another`() {
    var network = makeServices(1)
    network.inject(makePart(asks: true), from: 9)
    network.inject(makePart(asks: true), from: 10)
    network.inject(makePart("0", isLast: true), from: 9)
    network.run(for: .seconds(1))
    #expect(pointers(network) == [.pointer(SimulatedNetwork.makeInstance("0"))])
  }

  @Test func `R33: at most 16 packets of one querier are collected, and the rest is counted`() {
    var network = makeServices(20)
    network.inject(makePart(asks: true), from: 9)
    for index in 0..<20 { network.inject(makePart("\(index)"), from: 9) }
    network.run(for: .seconds(2))
    #expect(pointers(network).count == 5)
    #expect(network.nodes[0].machine.responderCounters.unassembled == 5)
  }

  @Test func `R33: at most 256 queriers are awaited, and the rest is counted`() {
    var network = makeServices(1)
    for querier in 1...300 {
      let source = Endpoint(.v4(0x0A00_0000 | UInt32(querier % 250)), port: 5353)
      let other = Endpoint(.v6(high: 0xFE80 << 48, low: UInt64(querier), scope: 2), port: 5353)
      network.inject(makePart(asks: true).encoded(), from: querier < 250 ? source : other)
    }
    network.run(for: .milliseconds(1))
    #expect(network.nodes[0].machine.responderCounters.unassembled == 44)
    network.run(for: .seconds(1))
    #expect(pointers(network).count == 1)
  }

  @Test func `R29: a querier that knows all answers gets no response`() {
    var network = makeServices(30)
    let known = (0..<30).map { makePointer("\($0)") }
    #expect(network.answers(to: [type], known: known).isEmpty)
    #expect(network.answers(to: [type], known: Array(known.dropLast())).count == 1)
  }
}
