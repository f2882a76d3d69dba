import CaromCore
import CaromDNS
import Testing

/// When and how questions are asked, and which answers count.
@Suite struct QuestionRuleTests {
  private func makeHub(seed: UInt64 = 1) -> Hub {
    var hub = Hub(seed: seed)
    hub.addNode(1)
    return hub
  }

  private func gaps(_ times: [Instant]) -> [Int64] {
    zip(times, times.dropFirst()).map { ($1 - $0).components.seconds }
  }

  private func hears(_ hub: inout Hub, _ hears: Bool) {
    var places = hub.nodes[0].attachments
    places[0].link.receivesUnicast = hears
    hub.setLinks(0, places)
  }

  @Test func `R1: queries go to both groups of a link that has both families`() {
    var hub = Hub()
    hub.addNode(1, dualStack: true)
    hub.browse(0)
    hub.run(for: .milliseconds(200))
    let v6 = IPAddress.v6(high: 0xFF02 << 48, low: 0xFB, scope: 2)
    #expect(hub.log.map(\.outgoing.destination) == [MulticastGroup.v4, Endpoint(v6, port: 5353)])
    #expect(hub.log[0].outgoing.payload == hub.log[1].outgoing.payload)
  }

  @Test func `R2: the first query of a series waits 20 to 120 ms, evenly`() throws {
    var quarters = [0, 0, 0, 0]
    for seed in 1...80 as ClosedRange<UInt64> {
      var hub = makeHub(seed: seed)
      hub.run(for: .seconds(1))
      let start = hub.now
      hub.browse(0)
      hub.run(for: .milliseconds(500))
      let wait = (try #require(hub.log.first).at - start).inMilliseconds
      try #require(wait >= 20 && wait <= 120)
      quarters[min(3, Int((wait - 20) / 25))] += 1
    }
    #expect(quarters.allSatisfy { $0 >= 8 })
  }

  @Test func `R2: what is opened at about the same time is asked in one packet`() {
    var hub = makeHub()
    hub.browse(0)
    _ = hub.resolve(0)
    hub.run(for: .milliseconds(200))
    #expect(hub.log.count == 1)
    #expect(hub.log[0].message.questions.map(\.key.type) == [.ptr, .srv, .txt])
  }

  @Test func `R3: queries come after 1, 2, 4 seconds and so on, up to an hour, and then end`() {
    var hub = makeHub()
    let id = hub.browse(0)
    hub.run(for: .seconds(2 * 3600 + 5000))
    #expect(
      gaps(hub.log.map(\.at)) == [
        1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600,
      ])
    hub.log = []
    hub.with(0) { machine, _ in machine.stopBrowsing(id) }
    hub.run(for: .seconds(10_000))
    #expect(hub.log.isEmpty)
  }

  @Test func `R4: a wanted record is asked for at 80, 85, 90 and 95 percent of its life`() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var hub = makeHub(seed: seed)
      _ = hub.with(0) { $0.query("host9.local", .a, at: $1) }
      hub.run(for: .milliseconds(200))
      let start = hub.now
      hub.say([Hub.makeAddress()])
      hub.log = []
      hub.run(for: .seconds(118))
      let parts = hub.questions(0, .a).map { ($0.at - start).inMilliseconds / 1200 }
      try #require(parts.count == 4)
      for (part, point) in zip(parts, [80.0, 85, 90, 95]) {
        #expect(part >= point && part <= point + 2.01)
      }
    }
  }

  @Test func `R4: a record that nobody wants is not asked for`() {
    var hub = makeHub()
    hub.say([Hub.makeAddress(), Hub.makePointer()])
    hub.run(for: .seconds(5000))
    #expect(hub.log.isEmpty)
  }

  @Test func `R4: records that were heard together are asked for together`() {
    var hub = makeHub()
    hub.browse(0)
    for index in 0..<30 {
      hub.say([Hub.makePointer("\(index)")], additionals: [Hub.makeText([:], of: "\(index)")])
    }
    hub.run(for: .seconds(3000))
    hub.log = []
    hub.run(for: .seconds(1400))
    #expect(hub.questions(0, .txt).count == 4 * 30)
    #expect(hub.log.count <= 20)
  }

  @Test func `R5: a unique answer ends the series until 80 percent of its life`() throws {
    var hub = makeHub()
    _ = hub.with(0) { $0.query("host9.local", .a, at: $1) }
    hub.run(for: .milliseconds(200))
    hub.say([Hub.makeAddress()])
    hub.log = []
    let start = hub.now
    hub.run(for: .seconds(100))
    let first = try #require(hub.log.first?.at)
    #expect(first - start >= .seconds(95))
    #expect(hub.log.count == 1)
  }

  @Test func `R5: an answer that came before the question makes it needless`() {
    var hub = makeHub()
    hub.say([Hub.makeAddress()])
    _ = hub.with(0) { $0.query("host9.local", .a, at: $1) }
    hub.run(for: .seconds(90))
    #expect(hub.log.isEmpty)
  }

  @Test func `R6: the first query wants a unicast answer, its repeats do not`() {
    var hub = makeHub()
    hears(&hub, true)
    hub.browse(0)
    hub.run(for: .seconds(10))
    #expect(hub.questions(0, .ptr).map(\.question.wantsUnicast) == [true, false, false, false])
    hub.log = []
    let end = hub.now.advanced(by: .seconds(10))
    hub.with(0) { $0.restartQuestions(on: 2, at: $1) }
    hub.run(for: end - hub.now)
    #expect(hub.questions(0, .ptr).map(\.question.wantsUnicast) == [true, false, false, false])
  }

  @Test func `R7: where unicast answers do not arrive none are wanted; that may change`() {
    var hub = makeHub()
    hub.browse(0)
    hub.run(for: .seconds(2))
    hears(&hub, true)
    hub.browse(0, .types())
    hub.run(for: .seconds(1))
    hears(&hub, false)
    hub.browse(0, .domains(.browsing))
    hub.run(for: .seconds(1))
    let wants = Dictionary(
      hub.questions(0, .ptr).map { ($0.question.key.name, $0.question.wantsUnicast) },
      uniquingKeysWith: { first, _ in first })
    #expect(wants[Hub.type.name()] == false)
    #expect(wants["_services._dns-sd._udp.local"] == true)
    #expect(wants["b._dns-sd._udp.local"] == false)
  }

  @Test func `R7: each link has its own say`() {
    var hub = Hub()
    var places = [Hub.makeAttachment(0, 2, 1), Hub.makeAttachment(1, 3, 1)]
    places[1].link.receivesUnicast = true
    hub.addNode("a", places)
    hub.browse(0)
    hub.run(for: .milliseconds(200))
    #expect(hub.log.map { $0.message.questions[0].wantsUnicast } == [false, true])
  }

  @Test(arguments: [0, 7, 0xFFFF] as [UInt16])
  func `R9: every response is used, whoever asked, whatever its id`(id: UInt16) {
    var hub = makeHub()
    hub.browse(0)
    var message = Message(id: id, isResponse: true)
    message.answers = [Hub.makePointer()]
    hub.inject(message, from: 9)
    hub.run(for: .milliseconds(1))
    #expect(hub.changes(0) == ["+Maya's table"])
  }

  /// A unicast response to the node, from an address, so long after its question.
  private func unicast(
    _ hub: inout Hub, _ answers: [Record], from source: UInt32, after delay: Duration
  ) {
    hears(&hub, true)
    hub.browse(0)
    _ = hub.run(until: hub.now.advanced(by: .seconds(1))) { !$0.log.isEmpty }
    hub.run(for: delay)
    var message = Message(isResponse: true)
    message.answers = answers
    hub.inject(
      message.encoded(), from: Endpoint(.v4(source), port: 5353),
      to: Endpoint(.v4(0x0A00_0001), port: 5353))
    hub.run(for: .milliseconds(1))
  }

  @Test func `R10 R59: a unicast answer counts for two seconds, to an own question, from here`() {
    let here: UInt32 = 0x0A00_0009
    let cases: [(answer: Record, source: UInt32, delay: Int64, counts: Bool)] = [
      (Hub.makePointer(), here, 1900, true),
      (Hub.makePointer(), here, 2100, false),
      (Hub.makePointer(), 0x0B00_0009, 100, false),
      (Hub.makeText([:]), here, 100, false),
    ]
    for (answer, source, delay, counts) in cases {
      var hub = makeHub()
      unicast(
        &hub, [answer, Hub.makeAddress()], from: source, after: .milliseconds(delay))
      #expect(
        hub.nodes[0].machine.cachedRecords("host9.local", .a, at: hub.now).count == (counts ? 1 : 0)
      )
    }
  }

  @Test func `R10: an answer by unicast that no question wanted so is ignored`() {
    var hub = makeHub()
    hub.browse(0)
    hub.run(for: .milliseconds(200))
    var message = Message(isResponse: true)
    message.answers = [Hub.makePointer()]
    hub.inject(
      message.encoded(), from: Endpoint(.v4(0x0A00_0009), port: 5353),
      to: Endpoint(.v4(0x0A00_0001), port: 5353))
    hub.run(for: .milliseconds(10))
    #expect(hub.changes(0).isEmpty)
  }

  @Test func `R59: a multicast answer counts whatever its source`() {
    var hub = makeHub()
    hub.browse(0)
    var message = Message(isResponse: true)
    message.answers = [Hub.makePointer()]
    hub.inject(message.encoded(), from: Endpoint(.v4(0x0B00_0009), port: 5353))
    hub.run(for: .milliseconds(1))
    #expect(hub.changes(0) == ["+Maya's table"])
  }

  @Test func `R17: a response from another port than 5353 is ignored`() {
    var hub = makeHub()
    hub.browse(0)
    var message = Message(isResponse: true)
    message.answers = [Hub.makePointer()]
    hub.inject(message, from: 9, port: 5354)
    hub.run(for: .milliseconds(1))
    #expect(hub.changes(0).isEmpty)
    #expect(hub.nodes[0].machine.counters.foreignPort == 1)
  }
}
