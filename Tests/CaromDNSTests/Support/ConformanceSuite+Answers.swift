import CaromCore
import CaromDNS
import Testing

/// What the Bonjour Conformance Test asks of a device that has its names.
extension ConformanceSuite {
  private static let pointer = Question(Hub.type.name(), .ptr)
  private static let types = Question("_services._dns-sd._udp.local", .ptr)
  private static let service = Question(instance, .srv)

  private static func makeSettled(_ start: Start = .fresh) -> Hub {
    var hub = makeStarting(start)
    hub.run(for: .seconds(5))
    hub.log = []
    return hub
  }

  @Test func `SIMPLE REPLY VERIFICATION`() throws {
    for question in [Question(Self.host, .a), Self.service, Question(Self.instance, .txt)] {
      var hub = Self.makeSettled()
      let answer = try #require(hub.answers(to: [question]).first)
      let bytes = answer.outgoing.payload
      #expect(bytes[0..<4] == [0, 0, 0x84, 0] && bytes[4..<6] == [0, 0])
      #expect(answer.message.answers.map(\.key) == [question.key])
      #expect(answer.outgoing.destination == MulticastGroup.v4)
    }
  }

  @Test func `SIMPLE REPLY RESPONSE TIME`() throws {
    for question in [Question(Self.host, .a), Self.service] {
      var hub = Self.makeSettled()
      let start = hub.now
      #expect(try #require(hub.answers(to: [question]).first).at - start <= .milliseconds(10))
    }
  }

  /// How long shared answers waited, milliseconds.
  private static func waits(_ questions: [Question], count: Int) -> [Double] {
    var hub = makeSettled()
    return (0..<count).map { _ in
      hub.run(for: .seconds(2))
      let start = hub.now + hub.delay
      return hub.answers(to: questions).first.map { ($0.at - start).inMilliseconds } ?? -1
    }
  }

  @Test func `SHARED REPLY TIMING`() {
    let waits = Self.waits([Self.pointer], count: 400)
    #expect(waits.allSatisfy { $0 >= 20 && $0 <= 120 })
  }

  @Test func `UNIFORM RANDOM DISTRIBUTION`() {
    // Of 400 a quarter has 100, give or take 8.7: four and a half times that allows no skew.
    var quarters = [0, 0, 0, 0]
    for wait in Self.waits([Self.pointer], count: 400) {
      quarters[min(3, Int(wait - 20) / 25)] += 1
    }
    #expect(quarters.allSatisfy { (61...139).contains($0) })
  }

  @Test func `MULTIPLE QUESTIONS: SHARED REPLY TIMING`() {
    let waits = Self.waits([Self.pointer, Self.types, Self.service], count: 100)
    #expect(waits.allSatisfy { $0 >= 20 && $0 <= 120 })
    #expect(Set(waits.map { Int($0 - 20) / 25 }).count == 4)
  }

  @Test func `MULTIPLE QUESTIONS: DUPLICATE SUPPRESSION`() {
    var hub = Self.makeSettled()
    let known = Record(Hub.type.name(), .pointer(Self.instance), timeToLive: 4500)
    let answers = hub.answers(to: [Self.pointer, Self.types], known: [known])
    #expect(answers.flatMap(\.message.answers).map(\.name) == [Self.types.key.name])
  }

  @Test func `MULTIPLE QUESTIONS: DISTRIBUTED DUPLICATE SUPPRESSION`() {
    var hub = Self.makeSettled()
    let known = [
      Record(Self.types.key.name, .pointer(Hub.type.name()), timeToLive: 4500),
      Record(Hub.type.name(), .pointer(Self.instance), timeToLive: 4500),
    ]
    for (index, record) in known.enumerated() {
      var part = Hub.makeQuery(index == 0 ? [Self.pointer, Self.types] : [], known: [record])
      part.isTruncated = index == 0
      hub.inject(part, from: 9)
      hub.run(for: .milliseconds(100))
    }
    hub.run(for: .seconds(2))
    #expect(hub.log.isEmpty)
  }

  @Test func `REPLY AGGREGATION`() {
    var hub = Self.makeSettled()
    for question in [Self.pointer, Self.types] {
      hub.inject(Hub.makeQuery([question]), from: 9)
      hub.run(for: .milliseconds(5))
    }
    hub.run(for: .seconds(1))
    #expect(hub.log.count == 1)
    #expect(hub.log.flatMap(\.message.answers).count == 2)
  }

  @Test func `MANUAL NAME CHANGE`() {
    var hub = Hub()
    hub.addNode(1)
    let id = hub.publish(0)
    hub.run(for: .seconds(5))
    hub.log = []
    hub.rename(0, id, to: "New - Bonjour")
    hub.run(for: .seconds(5))
    let kinds = hub.log.map { packet in
      !packet.message.isResponse
        ? "probe" : packet.message.answers[0].timeToLive == 0 ? "goodbye" : "announce"
    }
    #expect(kinds == ["goodbye", "probe", "probe", "probe", "announce", "announce"])
    let new = Hub.makeInstance("New - Bonjour")
    #expect(hub.log[0].message.answers.contains { $0.data == .pointer(Self.instance) })
    #expect(hub.log[4].message.answers.contains { $0.data == .pointer(new) })
    #expect(hub.answers(to: [Self.service]).isEmpty)
    #expect(hub.answers(to: [Question(new, .srv)]).count == 1)
  }

  @Test func `HOT-PLUGGING`() {
    // Each probing test runs after the cable came back too; here, what nobody may see meanwhile.
    var hub = Self.makeStarting(.replugged)
    hub.inject(Hub.makeQuery([Self.service]), from: 9)
    hub.run(for: .milliseconds(500))
    #expect(hub.packets(0, responses: true).isEmpty && !hub.probes(0).isEmpty)
    hub.run(for: .seconds(5))
    #expect(hub.answers(to: [Self.service]).count == 1)
    #expect(hub.names(0).isEmpty && hub.nodes[0].machine.hostName == Self.host)
  }

  @Test func `CABLE CHANGE`() {
    // From one network to another, where the address is another and the name is taken.
    var hub = Hub()
    hub.addNode(1)
    hub.addNode("rival", [Hub.makeAttachment(1, 2, 9)])
    hub.publish(1)
    hub.publish(0)
    hub.run(for: .seconds(5))
    #expect(hub.names(0) == ["Maya's table"])
    hub.setLinks(0, [])
    hub.run(for: .seconds(2))
    hub.log = []
    hub.setLinks(0, [Hub.makeAttachment(1, 2, 1)])
    hub.run(for: .seconds(5))
    #expect(hub.names(0) == ["Maya's table", "Maya's table (2)"])
    #expect(hub.said(0).contains { $0.data == .address(.v4(0x0A00_0101)) })
    #expect(!hub.said(0).contains { $0.data == .address(.v4(0x0A00_0001)) })
  }

  @Test func `NO DUPLICATE RECORDS IN PACKETS`() {
    var hub = Hub()
    hub.addNode(1, dualStack: true)
    for index in 0..<30 {
      var service = Hub.makeService("\(index)")
      service.subtypes = ["_a", "_b"]
      hub.publish(0, service)
    }
    hub.run(for: .seconds(5))
    let any = Question(Hub.type.name(), .any)
    _ = hub.answers(to: [Self.pointer, any, Self.types, Self.pointer])
    _ = hub.answers(to: [Question(Hub.makeInstance("7"), .any), Question(Self.host, .any)])
    hub.with(0) { $0.withdrawAll(at: $1) }
    for packet in hub.log {
      let records = packet.message.answers + packet.message.additionals
      #expect(Set(records.map(\.identity)).count == records.count)
      #expect(
        Set(packet.message.authorities.map(\.identity)).count == packet.message.authorities.count)
    }
  }

  @Test func `REQUIRED ADDITIONAL RECORDS IN ANSWERS`() throws {
    let expected: [(Question, [RecordType])] = [
      (Self.pointer, [.srv, .txt, .a, .nsec]), (Self.service, [.a, .nsec]),
      (Question(Self.host, .a), [.nsec]), (Self.types, []),
    ]
    for (question, types) in expected {
      var hub = Self.makeSettled()
      let answer = try #require(hub.answers(to: [question]).first)
      #expect(answer.message.additionals.map(\.type) == types)
    }
  }

  @Test func `LEGAL CHARACTERS IN ADDRESS RECORD NAMES`() {
    for label in [
      "Maya's Mac \u{1F3D2}", "", "-.-", String(repeating: "x", count: 80), "a_b", "été",
    ] {
      var hub = Hub()
      hub.addNode(1, name: label)
      hub.addNode(2, name: label)
      var unique = Hub.makeService("5b9c3f8e")
      unique.isUnique = true
      for (node, service) in [(0, Hub.makeService()), (1, Hub.makeService("B")), (0, unique)] {
        hub.publish(node, service)
      }
      hub.run(for: .seconds(10))
      let names = Set((hub.said(0) + hub.said(1)).filter { $0.type == .a }.map(\.name))
      #expect(names.count >= 3)
      for name in names {
        let text = name.labels[0]
        let isLegal = text.allSatisfy { byte in
          let scalar = Unicode.Scalar(byte)
          return ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
            || ("0"..."9").contains(scalar) || scalar == "-"
        }
        #expect(isLegal && text.first != 45 && text.last != 45)
      }
    }
  }

  @Test func `CACHE FLUSH BIT SET IN NON-SHARED RESPONSES`() {
    var hub = Self.makeStarting(.fresh)
    hub.run(for: .seconds(5))
    for question in [Self.pointer, Self.service, Question(Self.host, .aaaa)] {
      hub.inject(Hub.makeQuery([question]), from: 9)
      hub.run(for: .seconds(2))
    }
    #expect(hub.said(0).count >= 15)
    #expect(hub.said(0).allSatisfy { $0.flushesCache == ($0.type != .ptr) })
  }

  @Test func `CACHE FLUSH BIT NOT SET IN PROPOSED ANSWER OF PROBES`() {
    var hub = Self.makeStarting(.fresh)
    hub.run(for: .seconds(5))
    #expect(hub.probes(0).flatMap(\.message.authorities).count == 9)
    #expect(hub.probes(0).flatMap(\.message.authorities).allSatisfy { !$0.flushesCache })
  }

  @Test func `CACHE FLUSH BIT NOT SET IN UNICAST RESPONSE`() {
    var hub = Self.makeSettled()
    for question in [Self.service, Question(Self.host, .a), Self.pointer] {
      #expect(hub.answers(to: [question], port: 40_000).count == 1)
      #expect(hub.said(0).allSatisfy { !$0.flushesCache })
    }
  }

  @Test func `UNICAST INTEROPERABILITY`() throws {
    var hub = Self.makeSettled()
    var query = Hub.makeQuery([Self.service])
    query.id = 0xBEEF
    hub.inject(query, from: 9, port: 40_000)
    hub.run(for: .milliseconds(10))
    let answer = try #require(hub.log.first)
    #expect(answer.outgoing.destination == Endpoint(.v4(0x0A00_0009), port: 40_000))
    #expect(answer.message.id == 0xBEEF && answer.message.questions == query.questions)
    let records = answer.message.answers + answer.message.additionals
    #expect(records.map(\.type) == [.srv, .a])
    #expect(records.allSatisfy { $0.timeToLive <= 10 })
    // The target of the SRV stands there in full.
    #expect(answer.outgoing.payload.filter { $0 == UInt8(ascii: "1") }.count == 1)
    // A type that the name lacks is told by an empty answer, not by silence.
    let empty = try #require(hub.answers(to: [Question(Self.host, .aaaa)], port: 40_000).first)
    #expect(empty.message.answers.isEmpty)
  }

  @Test func `CHATTINESS`() {
    var hub = Hub()
    hub.addNode(1)
    hub.addNode(2)
    hub.publish(0)
    hub.browse(0)
    hub.publish(1, "Leo's table")
    hub.run(for: .seconds(8000))
    hub.log = []
    hub.run(for: .seconds(6 * 3600))
    // One question an hour, and what answers it.
    let asked = hub.packets(0, responses: false)
    #expect(asked.count <= 6 && hub.packets(1, responses: false).isEmpty)
    for answer in hub.log where answer.message.isResponse {
      #expect(asked.contains { (.zero ... .seconds(1)).contains(answer.at - $0.at) })
    }
    #expect(hub.log.count <= 3 * 6)
  }
}
