import CaromCore
import CaromDNS
import Testing

/// How long questions are asked, and where (RFC 6762 §5.2).
@Suite struct QuestionLifeTests {
  private func gaps(_ times: [Instant]) -> [Duration] {
    zip(times, times.dropFirst()).map { $1 - $0 }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `R3: the second query follows after a second, even if another resolve waits for it`(
    seed: UInt64
  ) throws {
    var network = SimulatedNetwork.makeWithOneNode(seed: seed)
    _ = network.resolve(0)
    network.run(for: .milliseconds(300))
    _ = network.resolve(0)
    network.run(for: .milliseconds(1500))
    let times = network.questions(0, .srv).map(\.at)
    #expect(gaps(times) == [.seconds(1)])
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `R2: a question joins an earlier one's packet only if that leaves in 20 ms or later`(
    seed: UInt64
  ) throws {
    var network = SimulatedNetwork.makeWithOneNode(seed: seed)
    network.browse(0)
    var copy = network
    copy.run(for: .milliseconds(200))
    let start = try #require(copy.log.first?.at)
    for (early, joins) in [(20, true), (19, false), (1, false)] as [(Int64, Bool)] {
      var other = network
      let wait = start - other.now - .milliseconds(early)
      guard wait >= .zero else { continue }
      other.run(for: wait)
      let begin = other.now
      other.browse(0, .types())
      other.run(for: .milliseconds(200))
      let asked = other.log.filter {
        $0.message.questions.contains { $0.key.name == "_services._dns-sd._udp.local" }
      }
      let delay = try #require(asked.first?.at) - begin
      #expect((asked.first?.at == start) == joins)
      #expect(delay >= .milliseconds(20) && delay <= .milliseconds(120))
    }
  }

  @Test func `R5: an answer on one link suffices for all links that have been asked`() {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    _ = network.with(0) { $0.query("host9.local", .a, at: $1) }
    network.run(for: .milliseconds(200))
    #expect(network.log.map(\.segment) == [0, 1])
    network.respond([SimulatedNetwork.makeAddress()], on: 0)
    network.run(for: .seconds(60))
    #expect(network.log.count == 2)
  }

  @Test func `R61: an answer on one link leaves the question on a link that was not asked yet`() {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.with(0) { $0.query("host9.local", .a, at: $1) }
    network.run(for: .milliseconds(200))
    network.setLinks(
      0, (0..<2).map { SimulatedNetwork.makeAttachment($0, UInt32(2 + $0), 1) })
    network.respond([SimulatedNetwork.makeAddress()], on: 0)
    network.log = []
    network.run(for: .seconds(10))
    let questions = network.packets(0, responses: false).filter(\.message.authorities.isEmpty)
    #expect(questions.map(\.segment) == [1, 1, 1, 1])
  }

  @Test func `R21: a denial on one link leaves the questions on other links`() {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    _ = network.with(0) { $0.query("host9.local", .aaaa, at: $1) }
    network.run(for: .milliseconds(200))
    network.log = []
    network.respond([SimulatedNetwork.makeDenial("host9.local", has: [.a])], on: 0)
    network.run(for: .seconds(10))
    #expect(network.log.map(\.segment) == [1, 1, 1])
  }

  @Test func `R46: an answered question is asked again at 1, 3 and 7 s after a sleep`() {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.with(0) { $0.query("host9.local", .a, at: $1) }
    network.run(for: .milliseconds(200))
    network.respond([SimulatedNetwork.makeAddress()])
    network.run(for: .seconds(20))
    network.log = []
    network.with(0) { $0.restartQuestions(on: nil, at: $1) }
    network.run(for: .seconds(9))
    #expect(gaps(network.questions(0, .a).map(\.at)) == [.seconds(1), .seconds(2), .seconds(4)])
  }

  @Test func `R3: a stopped operation asks nothing more, for services and texts alike`() throws {
    var network = SimulatedNetwork.makeWithOneNode()
    let browse = network.browse(0)
    network.respond([SimulatedNetwork.makePointer()])
    let resolve = network.resolve(0, "other", within: .seconds(100))
    let query = network.with(0) { $0.query("host9.local", .a, at: $1) }
    let monitor = network.with(0) { $0.monitorText(of: "third.local", at: $1) }
    let ids = (try #require(query), try #require(monitor))
    network.run(for: .seconds(5))
    #expect(Set(network.questions(0, .txt).map(\.question.key.name)).count == 3)
    network.log = []
    network.with(0) { machine, _ in
      machine.stopBrowsing(browse)
      machine.cancelResolve(resolve)
      machine.stopQuery(ids.0)
      machine.stopMonitoring(ids.1)
    }
    network.run(for: .seconds(10_000))
    #expect(network.log.isEmpty)
  }

  @Test func `R3: a question is asked until the last operation that needs it has stopped`() {
    var network = SimulatedNetwork.makeWithOneNode()
    let first = network.browse(0)
    let second = network.browse(0)
    network.run(for: .seconds(5))
    network.with(0) { machine, _ in machine.stopBrowsing(first) }
    // Stopping the same operation twice does not end another one.
    network.with(0) { machine, _ in machine.stopBrowsing(first) }
    network.log = []
    network.run(for: .seconds(20))
    #expect(network.questions(0, .ptr).count == 2)
    network.with(0) { machine, _ in machine.stopBrowsing(second) }
    network.log = []
    network.run(for: .seconds(10_000))
    #expect(network.log.isEmpty)
  }

  @Test func `nothing is reported after an operation stopped, not even what was cached`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.respond([
      SimulatedNetwork.makePointer(), SimulatedNetwork.makeServer(),
      SimulatedNetwork.makeText(["seats": "1/2"]), SimulatedNetwork.makeAddress(),
    ])
    let isStopped = network.with(0) { machine, now in
      let instance = SimulatedNetwork.makeInstance()
      let target = BrowseTarget.services(SimulatedNetwork.type)
      let resolve = machine.resolve(instance, deadline: now.advanced(by: .seconds(2)), at: now)
      guard let browse = machine.browse(target, at: now),
        let query = machine.query("host9.local", .a, at: now),
        let monitor = machine.monitorText(of: instance, at: now)
      else { return false }
      machine.stopBrowsing(browse)
      machine.cancelResolve(resolve)
      machine.stopQuery(query)
      machine.stopMonitoring(monitor)
      return true
    }
    #expect(isStopped)
    network.run(for: .seconds(10))
    #expect(network.querierEvents(0).isEmpty && network.log.isEmpty)
  }

  @Test func `stopping one operation leaves the events of the others`() throws {
    var network = SimulatedNetwork.makeWithOneNode()
    network.respond([SimulatedNetwork.makePointer(), SimulatedNetwork.makeAddress()])
    let started = network.with(0) { machine, now in
      let types: [RecordType] = [.a, .a, .any]
      let ids = types.compactMap { machine.query("host9.local", $0, at: now) }
      if ids.count == 3 { machine.stopQuery(ids[1]) }
      return ids
    }
    try #require(started.count == 3)
    let ids = [started[0], started[2]]
    let address = SimulatedNetwork.makeAddress()
    #expect(
      network.querierEvents(0) == ids.map { .recordAdded($0, address, interface: 2) })
  }

  @Test func `a host on two links of one network has each endpoint once`() throws {
    var network = SimulatedNetwork()
    network.addNode(
      "a", [SimulatedNetwork.makeAttachment(0, 2, 1), SimulatedNetwork.makeAttachment(0, 3, 2)])
    network.respond([
      SimulatedNetwork.makeServer(), SimulatedNetwork.makeText([:]),
      SimulatedNetwork.makeAddress(8), SimulatedNetwork.makeAddress(9),
    ])
    _ = network.resolve(0)
    let resolution = try #require(network.resolutions(0).first ?? nil)
    #expect(
      resolution.endpoints == [8, 9].map { Endpoint(.v4(0x0A00_0000 | $0), port: 7777) })
    #expect(resolution.interface == 2 && resolution.host == "host9.local")
  }
}
