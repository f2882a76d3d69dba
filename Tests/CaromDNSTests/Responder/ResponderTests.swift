import CaromCore
import CaromDNS
import Testing

@Suite struct ResponderTests {
  @Test func `R36 R37: host and service are probed together, three times, 250 ms apart`() throws {
    let (hub, _) = Hub.makePublished()
    let probes = hub.probes(0)
    #expect(probes.count == 3)
    #expect(probes[0].at.nanoseconds <= 250_000_000)
    #expect(probes[1].at - probes[0].at == .milliseconds(250))
    #expect(probes[2].at - probes[1].at == .milliseconds(250))
    for probe in probes {
      #expect(probe.message.questions.map(\.key.type) == [.any, .any])
      #expect(probe.message.authorities.map(\.type) == [.a, .srv, .txt])
      #expect(probe.message.authorities.allSatisfy { !$0.flushesCache })
    }
    let published = try #require(hub.nodes[0].events.first?.at)
    #expect(published - probes[2].at == .milliseconds(250))
    #expect(hub.names(0) == ["Maya's table"])
  }

  @Test func `R43 R44: a claimed name is announced twice, a second apart, and then never again`() {
    var (hub, _) = Hub.makePublished()
    hub.run(for: .seconds(7200))
    let announcements = hub.packets(0, responses: true)
    #expect(announcements.count == 2)
    #expect(announcements[1].at - announcements[0].at == .seconds(1))
    for packet in announcements {
      #expect(packet.message.id == 0 && packet.message.flags == 0x8400)
      #expect(packet.message.questions.isEmpty)
      let flush = packet.message.answers.map { "\($0.type.rawValue) \($0.flushesCache)" }
      #expect(flush == ["12 false", "12 false", "33 true", "16 true", "1 true"])
    }
  }

  @Test func `a publication costs at most 900 bytes on the wire`() {
    let (hub, _) = Hub.makePublished()
    #expect(hub.log.count == 5)
    #expect(hub.log.reduce(0) { $0 + $1.outgoing.payload.count + 42 } <= 900)
  }

  @Test func `R13 R80: a shared answer waits 20 to 120 ms and brings what is asked next`() throws {
    var quarters = [0, 0, 0, 0]
    for seed in 1...80 as ClosedRange<UInt64> {
      var (hub, _) = Hub.makePublished(seed)
      let start = hub.now
      let answers = hub.answers(to: [Question(Hub.type.name(), .ptr)])
      let answer = try #require(answers.first)
      #expect(answers.count == 1)
      #expect(answer.message.answers.map(\.type) == [.ptr])
      #expect(answer.message.additionals.map(\.type) == [.srv, .txt, .a, .nsec])
      let wait = (answer.at - start).inMilliseconds - 0.05
      try #require(wait >= 20 && wait <= 120)
      quarters[min(3, Int((wait - 20) / 25))] += 1
    }
    #expect(quarters.allSatisfy { $0 >= 8 })
  }

  @Test func `R14: a unique answer goes at once`() throws {
    var (hub, _) = Hub.makePublished()
    let start = hub.now
    let answers = hub.answers(to: [Question(Hub.makeInstance(), .srv)])
    #expect(try #require(answers.first).at - start == hub.delay)
    #expect(answers[0].message.answers.map(\.flushesCache) == [true])
  }

  @Test func `R15: the same record is not multicast twice within a second`() {
    var (hub, _) = Hub.makePublished()
    hub.log = []
    for _ in 0..<10 {
      var query = Message()
      query.questions = [Question(Hub.makeInstance(), .srv)]
      hub.inject(query, from: 9)
      hub.run(for: .milliseconds(50))
    }
    hub.run(for: .seconds(3))
    let answers = hub.packets(0, responses: true)
    #expect(answers.count == 2)
    #expect(answers[1].at - answers[0].at >= .seconds(1))
  }

  @Test func `R29: a known answer is suppressed from half of its life on`() {
    let pointer = { (life: UInt32) in
      Record(Hub.type.name(), .pointer(Hub.makeInstance()), timeToLive: life)
    }
    for (life, count) in [(4500, 0), (2250, 0), (2249, 1)] as [(UInt32, Int)] {
      var (hub, _) = Hub.makePublished()
      let answers = hub.answers(to: [Question(Hub.type.name(), .ptr)], known: [pointer(life)])
      #expect(answers.count == count)
    }
  }

  @Test func `R33: known answers that follow in a second packet count too`() {
    var (hub, _) = Hub.makePublished()
    var query = Message()
    query.questions = [Question(Hub.type.name(), .ptr)]
    query.isTruncated = true
    var more = Message()
    more.answers = [Record(Hub.type.name(), .pointer(Hub.makeInstance()), timeToLive: 4500)]
    hub.log = []
    hub.inject(query, from: 9)
    hub.run(for: .milliseconds(300))
    hub.inject(more, from: 9)
    hub.run(for: .seconds(1))
    #expect(hub.log.isEmpty)

    hub.inject(query, from: 9)
    let start = hub.now
    hub.run(for: .seconds(1))
    #expect(hub.log.count == 1)
    #expect(hub.log[0].at - start >= .milliseconds(400))
    #expect(hub.log[0].at - start <= .milliseconds(501))
  }

  @Test func `R20: an owned name without the type is denied by NSEC`() throws {
    var (hub, _) = Hub.makePublished()
    let answers = hub.answers(to: [Question("host1.local", .aaaa)])
    let record = try #require(answers.first?.message.answers.first)
    #expect(record.data == .types(next: "host1.local", [.a]))
    #expect(record.timeToLive == 120 && record.flushesCache)
  }

  @Test func `R25: any type and any class get everything`() throws {
    var (hub, _) = Hub.makePublished()
    let answers = hub.answers(to: [
      Question(Hub.makeInstance(), .any, questionClass: Question.anyClass)
    ])
    #expect(Set(try #require(answers.first).message.answers.map(\.type)) == [.srv, .txt])
  }

  @Test func `R79: the types on the link are listed once each`() throws {
    var hub = Hub()
    hub.addNode(1)
    hub.publish(0, "A")
    hub.publish(0, "B", port: 8888)
    hub.run(for: .seconds(5))
    let answers = hub.answers(to: [Question("_services._dns-sd._udp.local", .ptr)])
    #expect(answers.first?.message.answers.map(\.data) == [.pointer(Hub.type.name())])
  }

  @Test func `R27: a legacy asker gets a unicast answer that looks as it expects`() throws {
    var (hub, _) = Hub.makePublished()
    hub.log = []
    var query = Message(id: 77)
    query.questions = [Question(Hub.type.name(), .ptr, wantsUnicast: true)]
    hub.inject(query, from: 9, port: 40_000)
    hub.run(for: .milliseconds(10))
    let answer = try #require(hub.log.first)
    #expect(answer.outgoing.destination == Endpoint(.v4(0x0A00_0009), port: 40_000))
    #expect(answer.message.id == 77)
    #expect(answer.message.questions.map(\.key) == query.questions.map(\.key))
    let records = answer.message.answers + answer.message.additionals
    #expect(records.allSatisfy { $0.timeToLive <= 10 && !$0.flushesCache })
  }

  @Test func `R18 R19: a unicast answer goes to who wants it, if all heard it lately`() throws {
    var (hub, _) = Hub.makePublished()
    let question = Question(Hub.makeInstance(), .srv, wantsUnicast: true)
    let soon = hub.answers(to: [question])
    #expect(soon.first?.outgoing.destination == Endpoint(.v4(0x0A00_0009), port: 5353))
    hub.run(for: .seconds(31))
    let late = hub.answers(to: [question])
    #expect(late.first?.outgoing.destination == MulticastGroup.v4)
    let offLink = Endpoint(.v4(0x0B00_0001), port: 5353)
    hub.log = []
    var query = Message()
    query.questions = [question]
    hub.inject(query.encoded(), from: offLink, to: Endpoint(.v4(0x0A00_0001), port: 5353))
    hub.run(for: .seconds(1))
    #expect(hub.log.isEmpty)
  }

  @Test func `R51: withdrawing says goodbye for every record`() {
    var (hub, id) = Hub.makePublished()
    hub.log = []
    hub.with(0) { $0.withdraw(id, at: $1) }
    #expect(hub.log.count == 1)
    #expect(hub.log[0].message.answers.map(\.type) == [.ptr, .ptr, .srv, .txt, .a])
    #expect(hub.log[0].message.answers.allSatisfy { $0.timeToLive == 0 })
    #expect(hub.answers(to: [Question(Hub.type.name(), .ptr)]).isEmpty)
  }

  @Test func `R45 R48: new strings are announced, and their old echo is no conflict`() {
    var (hub, id) = Hub.makePublished()
    hub.log = []
    hub.update(0, id, text: ["seats": "2/2"])
    var echo = Message(isResponse: true)
    let text = TXTRecord(dictionaryLiteral: ("seats", "1/2"))
    echo.answers = [
      Record(
        Hub.makeInstance(), .text(text.encoded), timeToLive: 4500, flushesCache: true)
    ]
    hub.inject(echo, from: 1)
    hub.run(for: .seconds(5))
    #expect(hub.packets(0, responses: true).count == 2)
    #expect(hub.probes(0).isEmpty)
  }

  @Test func `R26: another's goodbye for our record makes us say it again`() {
    var (hub, _) = Hub.makePublished()
    hub.log = []
    var goodbye = Message(isResponse: true)
    goodbye.answers = [
      Record("host1.local", .address(.v4(0x0A00_0001)), timeToLive: 0, flushesCache: true)
    ]
    hub.inject(goodbye, from: 1)
    hub.run(for: .milliseconds(200))
    #expect(hub.log.map { $0.message.answers.map(\.timeToLive) } == [[120]])
  }
}
