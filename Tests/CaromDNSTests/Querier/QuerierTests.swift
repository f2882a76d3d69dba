import CaromCore
import CaromDNS
import Testing

@Suite struct QuerierTests {
  private func makePair(dualStack: Bool = false) -> Hub {
    var hub = Hub()
    hub.addNode(1, dualStack: dualStack)
    hub.addNode(2, dualStack: dualStack)
    return hub
  }

  @Test func `a running service is found within 270 ms, in three frames of 350 bytes`() throws {
    var hub = makePair()
    hub.publish(0)
    hub.run(for: .seconds(5))
    // A cold cache: the browsing host was not there before.
    hub.addNode(3)
    hub.log = []
    let start = hub.now
    hub.browse(2)
    hub.run(for: .milliseconds(2500))
    let found = try #require(hub.nodes[2].events.first)
    #expect(hub.changes(2) == ["+Maya's table"])
    #expect(found.at - start <= .milliseconds(270))
    guard case .querier(.added(_, let service)) = found.event else { return }
    #expect(service.text?["seats"] == "1/2")
    #expect(hub.log.count == 3)
    #expect(hub.log.reduce(0) { $0 + $1.outgoing.payload.count } <= 350)
  }

  @Test func `what is in the cache is reported at once, without a packet`() {
    var hub = makePair()
    hub.publish(0)
    hub.run(for: .seconds(5))
    hub.log = []
    hub.browse(1)
    #expect(hub.changes(1) == ["+Maya's table"])
    #expect(hub.log.isEmpty)
  }

  @Test func `a service that comes later is found and resolved within 1050 ms`() throws {
    var hub = makePair()
    hub.browse(1)
    hub.run(for: .seconds(60))
    let start = hub.now
    hub.publish(0)
    hub.run(for: .seconds(3))
    let found = try #require(hub.nodes[1].events.first)
    #expect(found.at - start <= .milliseconds(1050))
    let deadline = hub.now.advanced(by: .seconds(1))
    let before = hub.now
    _ = hub.with(1) { $0.resolve(Hub.makeInstance(), deadline: deadline, at: $1) }
    #expect(hub.nodes[1].events.last?.at == before)
    #expect(hub.resolutions(1).first??.endpoints == [Endpoint(.v4(0x0A00_0001), port: 7777)])
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>, [false, true])
  func `an idle pair is silent but for one query an hour and family`(seed: UInt64, dualStack: Bool)
  {
    var hub = Hub(seed: seed)
    hub.addNode(1, dualStack: dualStack)
    hub.addNode(2, dualStack: dualStack)
    hub.publish(0)
    hub.browse(1)
    hub.run(for: .seconds(3 * 3600))
    hub.log = []
    hub.run(for: .seconds(10 * 3600))
    let families = dualStack ? 2 : 1
    #expect(hub.packets(1, responses: false).count <= 10 * families)
    #expect(hub.packets(0, responses: true).count <= 10 * families)
    #expect(hub.packets(0, responses: false).isEmpty)
    #expect(hub.changes(1) == ["+Maya's table"])
  }

  @Test func `new strings are an update, the same strings are none`() {
    var hub = makePair()
    let id = hub.publish(0)
    hub.browse(1)
    hub.run(for: .seconds(5))
    hub.update(0, id, text: ["seats": "2/2"])
    hub.run(for: .seconds(5))
    hub.update(0, id, text: ["seats": "2/2"])
    hub.run(for: .seconds(5))
    #expect(hub.changes(1) == ["+Maya's table", "~Maya's table"])
  }

  @Test func `both families are told, and link-local addresses have their scope`() throws {
    var hub = makePair(dualStack: true)
    hub.publish(0)
    hub.run(for: .seconds(5))
    let deadline = hub.now.advanced(by: .seconds(2))
    _ = hub.with(1) { $0.resolve(Hub.makeInstance(), deadline: deadline, at: $1) }
    hub.run(for: .seconds(2))
    let resolution = try #require(hub.resolutions(1).first ?? nil)
    let v6 = IPAddress.v6(high: 0xFE80 << 48, low: 1, scope: 2)
    #expect(
      resolution.endpoints == [
        Endpoint(.v4(0x0A00_0001), port: 7777), Endpoint(v6, port: 7777),
      ])
  }

  @Test func `a name that nobody has is unresolved at the deadline, once`() {
    var hub = makePair()
    let deadline = hub.now.advanced(by: .seconds(2))
    _ = hub.with(1) { $0.resolve(Hub.makeInstance("nobody"), deadline: deadline, at: $1) }
    hub.run(for: .seconds(10))
    #expect(hub.nodes[1].events.count == 1)
    #expect(hub.nodes[1].events.first?.at == deadline)
    #expect(hub.resolutions(1).count == 1)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `lost packets only cost time`(seed: UInt64) {
    var hub = Hub(seed: seed)
    hub.addNode(1)
    hub.addNode(2)
    hub.loss = 0.5
    hub.publish(0)
    hub.browse(1)
    let end = hub.now.advanced(by: .seconds(120))
    let found = hub.run(until: end) { $0.changes(1).first == "+Maya's table" }
    #expect(found)
  }

  @Test func `a new interface is probed, announced and asked on within 1100 ms`() throws {
    var hub = Hub()
    hub.addNode("a", [])
    hub.addNode(2)
    hub.publish(0)
    hub.browse(1)
    hub.run(for: .seconds(60))
    #expect(hub.changes(1).isEmpty)
    let start = hub.now
    hub.setLinks(0, [Hub.makeAttachment(0, 2, 1)])
    hub.run(for: .seconds(2))
    #expect(hub.changes(1) == ["+Maya's table"])
    #expect(try #require(hub.nodes[1].events.last?.at) - start <= .milliseconds(1100))
  }

  @Test func `eight processes of one host see each other and themselves`() {
    var hub = Hub()
    for process in 0..<8 {
      hub.addNode(1, name: "shared")
      hub.publish(process, "t\(process)", port: UInt16(1000 + process))
      hub.browse(process)
    }
    hub.run(for: .seconds(5))
    for process in 0..<8 {
      #expect(hub.changes(process).sorted() == (0..<8).map { "+t\($0)" })
    }
  }

  @Test func `many services of one host are found with all they say, and not repeated`() {
    #if DEBUG
      let services = 60
    #else
      let services = 300
    #endif
    var hub = Hub()
    hub.addNode(1)
    for index in 0..<services { hub.publish(0, "table \(index)", port: UInt16(1000 + index)) }
    hub.run(for: .seconds(10))
    let browser = hub.addNode(2)
    hub.log = []
    hub.browse(browser)
    hub.run(for: .milliseconds(300))
    #expect(hub.changes(browser).count == services)
    #expect(hub.packets(0, responses: true).count <= services / 10 + 1)
    #expect(hub.log.allSatisfy { $0.outgoing.payload.count <= 1452 })
    hub.log = []
    hub.run(for: .seconds(5))
    #expect(hub.packets(0, responses: true).isEmpty)
    #expect(hub.log.allSatisfy { $0.outgoing.payload.count <= 1452 })
  }

  @Test func `many hosts are found within 350 ms`() {
    #if DEBUG
      let hosts = 20
    #else
      let hosts = 50
    #endif
    var hub = Hub()
    for host in 0..<hosts {
      hub.addNode(UInt8(host + 1))
      hub.publish(host, "table \(host)")
    }
    hub.run(for: .seconds(10))
    let browser = hub.addNode(99)
    hub.log = []
    hub.browse(browser)
    hub.run(for: .milliseconds(350))
    #expect(hub.changes(browser).count == hosts)
    #expect(hub.log.count <= hosts + 2)
  }
}
