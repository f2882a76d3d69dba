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

  @Test func `queries come after 1, 2, 4 seconds and so on, up to an hour`() {
    var hub = Hub()
    hub.addNode(2)
    hub.browse(0)
    hub.run(for: .seconds(2 * 3600 + 5000))
    let times = hub.log.map(\.at)
    let gaps = zip(times, times.dropFirst()).map { ($1 - $0).components.seconds }
    #expect(times[0].nanoseconds >= 20_000_000 && times[0].nanoseconds <= 120_000_000)
    #expect(gaps == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600])
  }

  @Test func `an idle pair is silent but for one query an hour`() {
    var hub = makePair()
    hub.publish(0)
    hub.browse(1)
    hub.run(for: .seconds(2 * 3600))
    hub.log = []
    hub.run(for: .seconds(10 * 3600))
    #expect(hub.packets(1, responses: false).count <= 31)
    #expect(hub.packets(0, responses: true).count <= 22)
    #expect(hub.changes(1) == ["+Maya's table"])
  }

  @Test func `queries name the answers that are known`() throws {
    var hub = makePair()
    hub.publish(0)
    hub.browse(1)
    hub.run(for: .seconds(30))
    let last = try #require(hub.packets(1, responses: false).last)
    #expect(last.message.answers.map(\.data) == [.pointer(Hub.makeInstance())])
    #expect(!last.message.answers[0].flushesCache)
    hub.log = []
    hub.run(for: .seconds(100))
    #expect(hub.packets(0, responses: true).isEmpty)
  }

  @Test func `a goodbye removes the service a second later, once`() throws {
    var hub = makePair()
    let id = hub.publish(0)
    hub.browse(1)
    hub.run(for: .seconds(5))
    let start = hub.now
    hub.with(0) { $0.withdraw(id, at: $1) }
    hub.run(for: .seconds(20))
    #expect(hub.changes(1) == ["+Maya's table", "-Maya's table"])
    let removed = try #require(hub.nodes[1].events.last?.at)
    #expect(removed - start >= .seconds(1) && removed - start <= .milliseconds(1100))
  }

  @Test func `a service that comes back within the second was never gone`() {
    var hub = makePair()
    let id = hub.publish(0)
    hub.browse(1)
    hub.run(for: .seconds(5))
    hub.with(0) { $0.withdraw(id, at: $1) }
    hub.run(for: .milliseconds(100))
    hub.addNode(4, name: "host1")
    var message = Message(isResponse: true)
    message.answers = [Record(Hub.type.name(), .pointer(Hub.makeInstance()), timeToLive: 4500)]
    hub.inject(message, from: 1)
    hub.run(for: .seconds(3))
    #expect(hub.changes(1) == ["+Maya's table"])
  }

  @Test func `a service that crashed goes when its record expires`() throws {
    var hub = makePair()
    hub.publish(0)
    hub.browse(1)
    hub.run(for: .seconds(5))
    hub.cut = [0]
    hub.run(for: .seconds(4500))
    #expect(hub.changes(1) == ["+Maya's table", "-Maya's table"])
  }

  @Test func `a doubted service goes within eleven seconds, or stays if it answers`() throws {
    var hub = makePair()
    hub.publish(0)
    hub.browse(1)
    hub.run(for: .seconds(60))
    hub.with(1) { $0.reconfirm(Hub.makeInstance(), at: $1) }
    hub.run(for: .seconds(30))
    #expect(hub.changes(1) == ["+Maya's table"])
    hub.cut = [0]
    let start = hub.now
    hub.log = []
    hub.with(1) { $0.reconfirm(Hub.makeInstance(), at: $1) }
    hub.run(for: .seconds(30))
    #expect(hub.changes(1) == ["+Maya's table", "-Maya's table"])
    #expect(try #require(hub.nodes[1].events.last?.at) - start <= .seconds(11))
    #expect(hub.log.count >= 2)
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

  @Test func `a host on two links is found once, and stays while one of them does`() {
    var hub = Hub()
    hub.addNode("a", [Hub.makeAttachment(0, 2, 1), Hub.makeAttachment(1, 3, 1)])
    let places = [Hub.makeAttachment(0, 2, 2), Hub.makeAttachment(1, 3, 2)]
    hub.addNode("b", places)
    hub.publish(0)
    hub.browse(1)
    hub.run(for: .seconds(10))
    hub.setLinks(1, [places[0]])
    hub.run(for: .seconds(10))
    #expect(hub.changes(1) == ["+Maya's table"])
    hub.setLinks(1, [])
    #expect(hub.changes(1) == ["+Maya's table", "-Maya's table"])
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

  @Test func `a name that a publisher cut at its dots is shown whole`() {
    var hub = Hub()
    hub.addNode(1)
    hub.browse(0)
    var message = Message(isResponse: true)
    message.answers = [
      Record(Hub.type.name(), .pointer("v1.0._airhockey._tcp.local"), timeToLive: 4500),
      Record(Hub.type.name(), .pointer("else._other._tcp.local"), timeToLive: 4500),
    ]
    hub.inject(message, from: 9)
    hub.run(for: .milliseconds(1))
    #expect(hub.changes(0) == ["+v1.0", "+else"])
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
