import CaromCore
import CaromDNS
import Testing

@Suite struct KnownAnswerTests {
  private let type = Question(Hub.type.name(), .ptr)

  private func makePointer(_ label: String) -> Record {
    Record(Hub.type.name(), .pointer(Hub.makeInstance(label)), timeToLive: 4500)
  }

  /// A host with services named 0, 1 and so on.
  private func makeServices(_ count: Int) -> Hub {
    var hub = Hub()
    hub.addNode(1)
    for index in 0..<count { hub.publish(0, "\(index)") }
    hub.run(for: .seconds(5))
    hub.log = []
    return hub
  }

  private func makePart(_ label: String? = nil, asks: Bool = false, isLast: Bool = false)
    -> Message
  {
    var part = Hub.makeQuery(asks ? [type] : [], known: label.map { [makePointer($0)] } ?? [])
    part.isTruncated = !isLast
    return part
  }

  private func pointers(_ hub: Hub) -> [RecordData] {
    hub.packets(0, responses: true).flatMap(\.message.answers).map(\.data)
  }

  @Test func `R33: further packets put the answer off, and take out what they know`() throws {
    var hub = makeServices(5)
    let start = hub.now
    hub.inject(makePart("0", asks: true), from: 9)
    hub.run(for: .milliseconds(300))
    hub.inject(makePart("1"), from: 9)
    hub.run(for: .milliseconds(300))
    hub.inject(makePart("2", isLast: true), from: 9)
    #expect(hub.log.isEmpty)
    hub.run(for: .seconds(1))
    #expect(pointers(hub) == ["3", "4"].map { .pointer(Hub.makeInstance($0)) })
    let wait = try #require(hub.log.first).at - start
    #expect((.milliseconds(700) ... .milliseconds(801)).contains(wait))
  }

  @Test func `R33: a packet every 100 ms does not put it off for more than a second`() throws {
    var hub = makeServices(2)
    let start = hub.now
    hub.inject(makePart("0", asks: true), from: 9)
    for _ in 0..<15 {
      hub.run(for: .milliseconds(100))
      hub.inject(makePart("0"), from: 9)
    }
    #expect(pointers(hub) == [.pointer(Hub.makeInstance("1"))])
    #expect(try #require(hub.log.first).at - start <= .milliseconds(1001))
  }

  @Test func `R33: what one asker knows is no news of another's`() {
    var hub = makeServices(1)
    hub.inject(makePart(asks: true), from: 9)
    hub.inject(makePart(asks: true), from: 10)
    hub.inject(makePart("0", isLast: true), from: 9)
    hub.run(for: .seconds(1))
    #expect(pointers(hub) == [.pointer(Hub.makeInstance("0"))])
  }

  @Test func `R33: of one asker 16 packets are kept, the rest is dropped and counted`() {
    var hub = makeServices(20)
    hub.inject(makePart(asks: true), from: 9)
    for index in 0..<20 { hub.inject(makePart("\(index)"), from: 9) }
    hub.run(for: .seconds(2))
    #expect(pointers(hub).count == 5)
    #expect(hub.nodes[0].machine.responderCounters.unassembled == 5)
  }

  @Test func `R33: 256 askers are waited for at a time, the rest is dropped and counted`() {
    var hub = makeServices(1)
    for asker in 1...300 {
      let source = Endpoint(.v4(0x0A00_0000 | UInt32(asker % 250)), port: 5353)
      let other = Endpoint(.v6(high: 0xFE80 << 48, low: UInt64(asker), scope: 2), port: 5353)
      hub.inject(makePart(asks: true).encoded(), from: asker < 250 ? source : other)
    }
    hub.run(for: .milliseconds(1))
    #expect(hub.nodes[0].machine.responderCounters.unassembled == 44)
    hub.run(for: .seconds(1))
    #expect(pointers(hub).count == 1)
  }

  @Test func `R29: an asker who knows all that we have hears nothing`() {
    var hub = makeServices(30)
    let known = (0..<30).map { makePointer("\($0)") }
    #expect(hub.answers(to: [type], known: known).isEmpty)
    #expect(hub.answers(to: [type], known: Array(known.dropLast())).count == 1)
  }
}
