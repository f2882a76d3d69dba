import CaromCore
import CaromDNS
import Testing

/// What others can make us say, and what it costs.
@Suite struct StormTests {
  #if DEBUG
    private let queries = 1000
    private let services = 300
  #else
    private let queries = 10_000
    private let services = 1000
  #endif

  /// Two nodes with two interfaces each on one bridged link, settled.
  private func makeBridged(services: Int = 5) -> Hub {
    var hub = Hub()
    for node in 0..<2 {
      let attachments = [0, 1].map { place in
        Hub.makeAttachment(0, UInt32(2 + place), UInt8(1 + 2 * node + place))
      }
      hub.addNode("host\(node)", attachments)
      for service in 0..<services { hub.publish(node, "\(node) \(service)") }
    }
    hub.run(for: .seconds(10))
    hub.log = []
    return hub
  }

  /// Runs to `end`, while somebody says each response again, as `change` makes it.
  private func run(_ hub: inout Hub, to end: Instant, echoing change: (inout Record) -> Void) {
    var seen = hub.log.count
    while hub.run(until: end, { $0.log.count > seen }) {
      let packet = hub.log[seen]
      seen += 1
      guard packet.message.isResponse, packet.outgoing.destination == MulticastGroup.v4 else {
        continue
      }
      var echo = packet.message
      for index in echo.answers.indices { change(&echo.answers[index]) }
      hub.inject(echo, from: 66)
    }
    hub.now = end
  }

  @Test func `ten thousand queries in a second are answered by few packets`() {
    var hub = makeBridged()
    let questions = [
      Question(Hub.type.name(), .ptr), Question("host0.local", .a, wantsUnicast: true),
      Question(Hub.makeInstance("1 3"), .any), Question("host1.local", .aaaa),
    ]
    var generator = SeededGenerator(seed: 3)
    for index in 0..<queries {
      let question = questions[Int.random(in: 0..<4, using: &generator)]
      let isLegacy = generator.chance(0.2)
      hub.inject(
        Hub.makeQuery([question]), from: UInt8(100 + index % 100), port: isLegacy ? 4000 : 5353)
      hub.run(for: .microseconds(Int64(1_000_000 / queries)))
    }
    hub.run(for: .seconds(3))
    // Each of the four interfaces: a burst and 125 a second, and one multicast a record.
    #expect(hub.log.count <= 4 * (256 + 4 * 125))
    let multicasts = hub.log.filter { $0.outgoing.destination == MulticastGroup.v4 }
    #expect(multicasts.count <= 4 * 4 * 5)
    for node in 0..<2 {
      let counters = hub.nodes[node].machine.responderCounters
      #expect(counters.examined <= 2 * 5 * queries)
    }
  }

  @Test func `a peer that says our responses again, or mangles them, gets few of them`() {
    let changes: [(String, (inout Record) -> Void)] = [
      ("as they are", { _ in }),
      ("at the end of their life", { $0.timeToLive = 1 }),
      ("as goodbyes", { $0.timeToLive = 0 }),
      (
        "with dots made of other dots",
        { if case .pointer = $0.data { $0.data = .pointer("other.name.local") } }
      ),
    ]
    for (what, change) in changes {
      var hub = makeBridged()
      hub.inject(Hub.makeQuery([Question(Hub.type.name(), .ptr)]), from: 99)
      run(&hub, to: hub.now + .seconds(10), echoing: change)
      // At most one multicast a second and interface.
      #expect(hub.log.count <= 4 * 11, "\(what)")
      #expect(Set(hub.names(0)).count == 5, "\(what)")
    }
  }

  @Test func `a budget that is used up delays multicasts and loses none`() {
    var hub = Hub()
    hub.addNode(1)
    for index in 0..<400 { hub.publish(0, "\(index)") }
    hub.run(for: .seconds(5))
    hub.log = []
    for index in 0..<400 {
      hub.inject(Hub.makeQuery([Question(Hub.makeInstance("\(index)"), .srv)]), from: 9)
    }
    hub.run(for: .milliseconds(1))
    #expect(hub.log.count == 256)
    hub.run(for: .seconds(2))
    #expect(Set(hub.said(0).filter { $0.type == .srv }.map(\.name)).count == 400)
    #expect(hub.log.count <= 400)
    #expect(hub.nodes[0].machine.responderCounters.delayed >= 144)
  }

  @Test func `a storm of askers who want their own answer leaves room for multicasts`() {
    var (hub, _) = Hub.makePublished()
    hub.log = []
    let service = Question(Hub.makeInstance(), .srv)
    for _ in 0..<400 { hub.inject(Hub.makeQuery([service]), from: 9, port: 4000) }
    hub.run(for: .milliseconds(1))
    #expect(hub.log.count == 192)
    #expect(hub.nodes[0].machine.responderCounters.withheld == 208)
    hub.inject(Hub.makeQuery([service]), from: 9)
    hub.run(for: .milliseconds(1))
    #expect(hub.log.count == 193)
  }

  @Test func `where the budget is used up, who wants a unicast answer gets the multicast`() {
    var (hub, _) = Hub.makePublished()
    hub.log = []
    let question = Question(Hub.makeInstance(), .srv, wantsUnicast: true)
    for host in 0..<1000 { hub.inject(Hub.makeQuery([question]), from: UInt8(2 + host % 250)) }
    hub.run(for: .seconds(2))
    let multicasts = hub.log.filter { $0.outgoing.destination == MulticastGroup.v4 }
    #expect(hub.log.count - multicasts.count <= 200)
    #expect(multicasts.count == 1)
  }

  @Test func `the work for a question grows with the answers, not with their square`() {
    var examined: [Int] = []
    var packets: [Int] = []
    for count in [services / 10, services] {
      var hub = Hub()
      hub.addNode(1)
      for index in 0..<count { hub.publish(0, "\(index)") }
      hub.run(for: .seconds(8))
      #expect(hub.names(0).count == count)
      let before = hub.nodes[0].machine.responderCounters.examined
      packets.append(hub.answers(to: [Question(Hub.type.name(), .ptr)]).count)
      examined.append(hub.nodes[0].machine.responderCounters.examined - before)
    }
    #expect(examined == [services / 10, services])
    #expect(packets[1] <= 11 * packets[0])
  }

  @Test func `a message of many questions costs no more than all records do`() {
    var hub = Hub()
    hub.addNode(1)
    for index in 0..<50 { hub.publish(0, "\(index)") }
    hub.run(for: .seconds(5))
    let question = Question(Hub.type.name(), .ptr)
    let before = hub.nodes[0].machine.responderCounters.examined
    hub.inject(Hub.makeQuery(Array(repeating: question, count: 500)), from: 9)
    hub.run(for: .seconds(1))
    #expect(hub.nodes[0].machine.responderCounters.examined - before == 50)
  }
}
